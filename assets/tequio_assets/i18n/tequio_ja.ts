<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="ja">
<context>
    <name>ActivityPage</name>
    <message>
        <source>View</source>
        <translation>表示</translation>
    </message>
    <message>
        <source>Timeline</source>
        <translation>タイムライン</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>ログ</translation>
    </message>
    <message>
        <source>Health</source>
        <translation>動作状態</translation>
    </message>
    <message>
        <source>What happened here, newest first. It is kept on this computer only.</source>
        <translation>このコンピューターでの出来事を新しい順に表示します。記録はこのコンピューターにのみ保存されます。</translation>
    </message>
    <message>
        <source>Activity</source>
        <translation>アクティビティ</translation>
    </message>
</context>
<context>
    <name>AnyRow</name>
    <message>
        <source>Chosen</source>
        <translation>選択中</translation>
    </message>
    <message>
        <source>Choose for me</source>
        <translation>おまかせ</translation>
    </message>
    <message>
        <source>A run that fits, with places free</source>
        <translation>条件に合い空きのあるプロジェクト</translation>
    </message>
</context>
<context>
    <name>AppCompetitionsPage</name>
    <message>
        <source>Runs compete on unseen text.</source>
        <translation>学習プロジェクトが未知のテキストで競い合います。</translation>
    </message>
    <message>
        <source>Competitions</source>
        <translation>コンペ</translation>
    </message>
    <message>
        <source>Join this run</source>
        <translation>この学習プロジェクトに参加</translation>
    </message>
    <message>
        <source>Stay on this run</source>
        <translation>このプロジェクトを続ける</translation>
    </message>
    <message>
        <source>Runs compete on unseen text. Updated {ago}.</source>
        <translation>学習プロジェクトが未知のテキストで競い合います。一覧の取得：{ago}。</translation>
    </message>
    <message>
        <source>{problem}. Tequio will keep trying.</source>
        <translation>{problem}。Tequioは引き続き試行します。</translation>
    </message>
    <message>
        <source>Couldn't load the list</source>
        <translation>一覧を読み込めませんでした</translation>
    </message>
    <message>
        <source>No competition yet</source>
        <translation>コンペはまだありません</translation>
    </message>
    <message>
        <source>Organisers open one so that runs can be compared. It'll appear here, and you'll be notified.</source>
        <translation>主催者がコンペを開くと、学習プロジェクトを比較できます。開かれるとここに表示され、通知が届きます。</translation>
    </message>
    <message>
        <source>Looking for competitions</source>
        <translation>コンペを探しています</translation>
    </message>
    <message>
        <source>Asking the network which competitions there are.</source>
        <translation>どのコンペがあるか台帳に問い合わせています。</translation>
    </message>
</context>
<context>
    <name>AppModel</name>
    <message>
        <source>The network does not answer</source>
        <translation>ネットワークが応答しません</translation>
    </message>
    <message>
        <source>The network does not answer. It may still accept the request later</source>
        <translation>ネットワークが応答しません。リクエストは後で受け入れられる可能性があります</translation>
    </message>
</context>
<context>
    <name>AppealControl</name>
    <message>
        <source>Appeal…</source>
        <translation>異議申し立て…</translation>
    </message>
    <message>
        <source>Your appeal is in log entry {entry} and waits for the organisers.</source>
        <translation>異議申し立てはログエントリ{entry}にあり、主催者の回答を待っています。</translation>
    </message>
    <message>
        <source>Restricted by log entry {entry}: {why}.</source>
        <translation>ログエントリ{entry}により制限されています：{why}。</translation>
    </message>
</context>
<context>
    <name>AppealDialog</name>
    <message>
        <source>Appeal</source>
        <translation>異議申し立て</translation>
    </message>
    <message>
        <source>An organiser reviews what your key is accused of. You can appeal once a day. If nobody answers within 14 days, a quarantine turns into probation.</source>
        <translation>主催者が、あなたのキーに対する指摘を再審査します。異議申し立ては1日1回です。14日以内に誰も回答しない場合、隔離は観察期間に変わります。</translation>
    </message>
    <message>
        <source>Send the appeal</source>
        <translation>異議を申し立てる</translation>
    </message>
    <message>
        <source>What happened (optional)</source>
        <translation>経緯（任意）</translation>
    </message>
    <message>
        <source>The text is public and permanent: no names, addresses or passwords.</source>
        <translation>この文章は永久に公開されます。名前、住所、パスワードは書かないでください。</translation>
    </message>
    <message>
        <source>The text has {length} bytes, at most {most} are allowed: shorten it.</source>
        <translation>文章は{length}バイトあります。{most}バイト以内に短くしてください。</translation>
    </message>
</context>
<context>
    <name>AuditNotice</name>
    <message>
        <source>Another volunteer repeated your work of round {round}, and the results differ slightly more than usual. Your work counts, and you lose nothing. Unusual hardware, overclocking or an old driver can cause this; measuring the device shows whether it works as fast as before.</source>
        <translation>別のボランティアがラウンド{round}のあなたの作業を再計算したところ、結果の差が通常よりわずかに大きくなりました。作業は有効で、失うものはありません。特殊なハードウェア、オーバークロック、古いドライバーが原因のことがあります。デバイスを測定すると、以前と同じ速さで動くか確認できます。</translation>
    </message>
    <message>
        <source>Pause to measure</source>
        <translation>一時停止して測定</translation>
    </message>
    <message>
        <source>Measure again</source>
        <translation>再測定</translation>
    </message>
</context>
<context>
    <name>BackupDialog</name>
    <message>
        <source>Back up your key</source>
        <translation>キーのバックアップ</translation>
    </message>
    <message>
        <source>Anyone with this key has your points. If this disk fails, only a backup helps.</source>
        <translation>このキーを持つ人が、あなたのポイントの持ち主になります。このディスクが壊れたときに役立つのはバックアップだけです。</translation>
    </message>
    <message>
        <source>Kind of backup</source>
        <translation>バックアップの種類</translation>
    </message>
    <message>
        <source>24 words</source>
        <translation>24語の単語</translation>
    </message>
    <message>
        <source>A file</source>
        <translation>ファイル</translation>
    </message>
    <message>
        <source>The file is sealed under a passphrase. Keep the two in different places, away from this computer.</source>
        <translation>ファイルはパスフレーズで暗号化されます。ファイルとパスフレーズは、このコンピューターから離して別々の場所に保管してください。</translation>
    </message>
    <message>
        <source>Save the file…</source>
        <translation>ファイルを保存…</translation>
    </message>
    <message>
        <source>Show the words</source>
        <translation>単語を表示</translation>
    </message>
    <message>
        <source>I have written them down</source>
        <translation>書き写しました</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>完了</translation>
    </message>
    <message>
        <source>Save the backup</source>
        <translation>バックアップを保存</translation>
    </message>
</context>
<context>
    <name>BackupSource</name>
    <message>
        <source>Kind of backup</source>
        <translation>バックアップの種類</translation>
    </message>
    <message>
        <source>24 words</source>
        <translation>24語の単語</translation>
    </message>
    <message>
        <source>A file</source>
        <translation>ファイル</translation>
    </message>
    <message>
        <source>The 24 words, in their order</source>
        <translation>24語の単語（順番どおり）</translation>
    </message>
    <message>
        <source>Choose the file…</source>
        <translation>ファイルを選択…</translation>
    </message>
    <message>
        <source>Choose the backup</source>
        <translation>バックアップを選択</translation>
    </message>
</context>
<context>
    <name>BackupWordsPane</name>
    <message>
        <source>Word {number}</source>
        <translation>{number}番目の単語</translation>
    </message>
    <message>
        <source>To check what you wrote, type two of the words.</source>
        <translation>紙の内容を確認するため、2つの単語を入力してください。</translation>
    </message>
    <message>
        <source>Word {number} does not match. Look at the paper again.</source>
        <translation>{number}番目の単語が違います。紙をもう一度確認してください。</translation>
    </message>
    <message>
        <source>Write them on paper in this order: no photo, no cloud. Nobody from Tequio will ever ask for them.</source>
        <translation>この順番で紙に書き写してください。撮影やクラウドへの保存はしないでください。Tequioの関係者がこの単語を尋ねることはありません。</translation>
    </message>
</context>
<context>
    <name>BadgesCard</name>
    <message>
        <source>Badges</source>
        <translation>バッジ</translation>
    </message>
    <message>
        <source>Each badge opens the entry of the public log that proves it.</source>
        <translation>各バッジを開くと、証明となる公開ログのエントリが表示されます。</translation>
    </message>
    <message numerus="yes">
        <source>Current streak: %n day(s) in a row with accepted work.</source>
        <translation>
            <numerusform>現在の連続記録：%n日連続で作業が受け入れられています。</numerusform>
        </translation>
    </message>
    <message>
        <source>No accepted work today (UTC) yet.</source>
        <translation>今日（UTC）の分はまだありません。</translation>
    </message>
    <message>
        <source>No streak: no work was accepted lately.</source>
        <translation>連続記録なし：最近は作業が受け入れられていません。</translation>
    </message>
    <message>
        <source>Next badge: {badge}, {reached} of {needed}</source>
        <translation>次のバッジ：{badge}、{reached} / {needed}</translation>
    </message>
    <message>
        <source>First round</source>
        <translation>初めてのラウンド</translation>
    </message>
    <message>
        <source>A round accepted work of this key for the first time.</source>
        <translation>このキーの作業が初めてラウンドで受け入れられました。</translation>
    </message>
    <message>
        <source>{n} rounds</source>
        <translation>{n}ラウンド</translation>
    </message>
    <message>
        <source>{n} rounds accepted work of this key.</source>
        <translation>このキーの作業が{n}ラウンドで受け入れられました。</translation>
    </message>
    <message>
        <source>{n} days in a row</source>
        <translation>{n}日連続</translation>
    </message>
    <message>
        <source>Work was accepted on {n} days in a row.</source>
        <translation>{n}日連続で作業が受け入れられました。</translation>
    </message>
    <message>
        <source>1 EFLOP</source>
        <translation>1 EFLOP</translation>
    </message>
    <message>
        <source>This key did 10^18 calculations, which are 100,000 points.</source>
        <translation>このキーは10^18回の計算を行いました。100,000ポイントに相当します。</translation>
    </message>
    <message>
        <source>First audit</source>
        <translation>初めての監査</translation>
    </message>
    <message>
        <source>This key repeated another volunteer's work to check it.</source>
        <translation>このキーは別のボランティアの作業を再計算して確認しました。</translation>
    </message>
    <message>
        <source>Measured a model</source>
        <translation>モデルを評価</translation>
    </message>
    <message>
        <source>This key measured how good a model is, on text that nobody trains on.</source>
        <translation>このキーは、誰も学習に使っていないテキストでモデルの良さを測りました。</translation>
    </message>
    <message>
        <source>Judged a competition</source>
        <translation>コンペを審査</translation>
    </message>
    <message>
        <source>This key scored a model in a competition.</source>
        <translation>このキーはコンペでモデルを採点しました。</translation>
    </message>
</context>
<context>
    <name>BenchmarkRow</name>
    <message>
        <source>Benchmark</source>
        <translation>ベンチマーク</translation>
    </message>
    <message>
        <source>Measure</source>
        <translation>測定</translation>
    </message>
    <message>
        <source>Measure again</source>
        <translation>再測定</translation>
    </message>
    <message>
        <source>Measuring</source>
        <translation>測定中</translation>
    </message>
    <message>
        <source>Trains a small model for a few seconds.</source>
        <translation>小さなモデルを数秒間学習します。</translation>
    </message>
    <message>
        <source>Not measured: {why}.</source>
        <translation>測定できませんでした：{why}。</translation>
    </message>
    <message>
        <source>Trains a small model for a few seconds and says how fast this device is.</source>
        <translation>小さなモデルを数秒間学習し、このデバイスの速さを調べます。</translation>
    </message>
    <message>
        <source>Switch the device off first to get a meaningful result.</source>
        <translation>意味のある結果を得るには、先にデバイスの提供をオフにしてください。</translation>
    </message>
    <message>
        <source>{tokens} tokens per second</source>
        <translation>毎秒{tokens}トークン</translation>
    </message>
    <message>
        <source>{memory} of memory</source>
        <translation>メモリ{memory}</translation>
    </message>
    <message>
        <source>{figures}.</source>
        <translation>{figures}。</translation>
    </message>
</context>
<context>
    <name>CardDownload</name>
    <message>
        <source>The network has no picture of this page ({problem}). Copy the link instead.</source>
        <translation>このページの画像はネットワークにありません（{problem}）。代わりにリンクをコピーしてください。</translation>
    </message>
    <message>
        <source>The picture could not be fetched ({problem}). Check your connection, and try again.</source>
        <translation>画像を取得できませんでした（{problem}）。接続を確認して、もう一度お試しください。</translation>
    </message>
    <message>
        <source>{file} was not written: {why}. Choose another place, or try again.</source>
        <translation>{file}に書き込めませんでした：{why}。別の場所を選ぶか、もう一度お試しください。</translation>
    </message>
</context>
<context>
    <name>ChatCard</name>
    <message>
        <source>Try the model</source>
        <translation>モデルを試す</translation>
    </message>
    <message>
        <source>What you and the model wrote</source>
        <translation>あなたとモデルが書いた文章</translation>
    </message>
    <message>
        <source>The newest model answers here if it was trained on conversations, and otherwise continues what you write. Early in a run that is gibberish; it improves round by round. Its words are generated; they are not anyone's opinion.</source>
        <translation>会話で学習した最新のモデルはここで答え、それ以外のモデルは書いた文章の続きを書きます。学習プロジェクトの初期は意味不明な文章になりますが、ラウンドごとに良くなります。文章は生成されたもので、誰かの意見ではありません。</translation>
    </message>
    <message>
        <source>Preparing the model</source>
        <translation>モデルを準備中</translation>
    </message>
    <message>
        <source>Your text</source>
        <translation>あなたの文章</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>送信</translation>
    </message>
    <message>
        <source>New conversation</source>
        <translation>新しい会話</translation>
    </message>
    <message>
        <source>The model needs what training needs, which is not installed yet.</source>
        <translation>モデルには学習と同じものが必要ですが、まだインストールされていません。</translation>
    </message>
    <message>
        <source>{program} has priority now. The model can answer once it is closed.</source>
        <translation>今は{program}が優先されています。終了するとモデルが答えられます。</translation>
    </message>
    <message>
        <source>The newest model is not on this computer yet. It comes with the next round that you take part in, or you download it now.</source>
        <translation>最新のモデルはまだこのコンピューターにありません。次に参加するラウンドで届きますが、今すぐダウンロードすることもできます。</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>ダウンロード</translation>
    </message>
    <message>
        <source>There is not enough memory: the model needs about {needed}, and {free} are free. Close other programs, then try again.</source>
        <translation>メモリが足りません。モデルには約{needed}が必要ですが、空きは{free}です。ほかのプログラムを閉じてから、もう一度試してください。</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>再試行</translation>
    </message>
    <message>
        <source>The model could not be started, or stopped working.</source>
        <translation>モデルを起動できなかったか、動作が停止しました。</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Ask something, or begin a text</source>
        <translation>質問するか、文章を書き始める</translation>
    </message>
    <message>
        <source>Ask something</source>
        <translation>質問する</translation>
    </message>
    <message>
        <source>Begin a text</source>
        <translation>文章を書き始める</translation>
    </message>
    <message>
        <source>Downloading the newest model: {done} of {total}</source>
        <translation>最新のモデルをダウンロード中：{done}/{total}</translation>
    </message>
    <message>
        <source>Preparing the newest model, checked against the public log…</source>
        <translation>最新のモデルを公開ログと照合して準備しています…</translation>
    </message>
    <message>
        <source>The model of round {number} runs on this computer's processor.</source>
        <translation>ラウンド{number}のモデルがこのコンピューターのプロセッサで動いています。</translation>
    </message>
    <message>
        <source>The model of round {number} runs on this computer's processor, slower while it also trains.</source>
        <translation>ラウンド{number}のモデルがこのコンピューターのプロセッサで動いています。学習中は遅くなります。</translation>
    </message>
    <message>
        <source>The model is closed. Your next question starts it again; it will not remember this conversation.</source>
        <translation>モデルは終了しています。次の質問で再び起動しますが、この会話は覚えていません。</translation>
    </message>
    <message>
        <source>It runs on this computer's processor; nothing is sent anywhere.</source>
        <translation>このコンピューターのプロセッサで動き、何も外部に送信しません。</translation>
    </message>
</context>
<context>
    <name>CheckRow</name>
    <message>
        <source>Not available on this system</source>
        <translation>このシステムでは利用できません</translation>
    </message>
    <message>
        <source>OK</source>
        <translation>OK</translation>
    </message>
    <message>
        <source>Checking…</source>
        <translation>確認中…</translation>
    </message>
    <message>
        <source>Unknown</source>
        <translation>不明</translation>
    </message>
</context>
<context>
    <name>CheckStep</name>
    <message>
        <source>Can this computer take part?</source>
        <translation>このコンピューターは参加できますか？</translation>
    </message>
    <message>
        <source>Takes five seconds at most. Checks this computer and asks the network which runs are open.</source>
        <translation>かかる時間は最大5秒です。このコンピューターを確認し、参加できる学習プロジェクトをネットワークに問い合わせます。</translation>
    </message>
    <message>
        <source>Check again</source>
        <translation>もう一度確認</translation>
    </message>
</context>
<context>
    <name>ChildTransport</name>
    <message>
        <source>The worker was ended from outside ({code}).</source>
        <translation>ワーカーが外部から終了されました（{code}）。</translation>
    </message>
    <message>
        <source>The worker has ended ({code}).</source>
        <translation>ワーカーが終了しました（{code}）。</translation>
    </message>
</context>
<context>
    <name>CodeConsentDialog</name>
    <message>
        <source>Allow the code of {run}?</source>
        <translation>{run}のコードを許可しますか？</translation>
    </message>
    <message>
        <source>This run brings code that is not part of Tequio. It was written or chosen by the run's organisers ({keys}).</source>
        <translation>この学習プロジェクトには、Tequioに含まれないコードが付属しています。コードは主催者（{keys}）が作成または選択したものです。</translation>
    </message>
    <message>
        <source>Allow this code</source>
        <translation>このコードを許可</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>あとで</translation>
    </message>
    <message>
        <source>I trust the author of this code</source>
        <translation>このコードの作者を信頼します</translation>
    </message>
    <message>
        <source>{name} {version}, {size}, archive {archive}</source>
        <translation>{name} {version}、{size}、アーカイブ {archive}</translation>
    </message>
    <message>
        <source>It runs in the trainer: it computes on your device, and reads what belongs to the run.</source>
        <translation>コードはトレーナーの中で動きます。あなたのデバイスで計算し、学習プロジェクトのデータを読み取ります。</translation>
    </message>
    <message>
        <source>It makes what your key signs in this run. Bad code can cost points, or your key's standing.</source>
        <translation>この学習プロジェクトであなたの鍵が署名する内容は、このコードが作ります。不正なコードは、ポイントや鍵の評価を失う原因になります。</translation>
    </message>
    <message>
        <source>Your consent is for these exact bytes. A new version asks again; you can take the consent back here at any time.</source>
        <translation>同意は、このバイト列そのものに対するものです。新しいバージョンでは再度確認します。同意はここでいつでも取り消せます。</translation>
    </message>
    <message>
        <source>The sandbox keeps it from your key, your home folder, the network and other programs.</source>
        <translation>サンドボックスにより、鍵、ホームフォルダー、ネットワーク、ほかのプログラムにはアクセスできません。</translation>
    </message>
    <message>
        <source>This computer has no sandbox for it: it could read your files and your key, and use the network.</source>
        <translation>このコンピューターにはサンドボックスがありません。コードはファイルや鍵を読み取り、ネットワークを使用できます。</translation>
    </message>
</context>
<context>
    <name>CommandsCard</name>
    <message>
        <source>In other programs</source>
        <translation>ほかのプログラムで使う</translation>
    </message>
    <message>
        <source>Export the model</source>
        <translation>モデルをエクスポート</translation>
    </message>
    <message>
        <source>In a terminal, the first command exports the newest model as a GGUF file, which works for Llama, Mistral and Qwen models. The second line runs it in llama.cpp, the third in Ollama.</source>
        <translation>ターミナルで、1行目のコマンドは最新のモデルをGGUFファイルとしてエクスポートします（Llama、Mistral、Qwenのモデルに対応）。2行目はllama.cppで、3行目はOllamaで実行します。</translation>
    </message>
</context>
<context>
    <name>CompetitionChoice</name>
    <message>
        <source>Way to the result</source>
        <translation>結果までの流れ</translation>
    </message>
    <message numerus="yes">
        <source>%n entrant(s)</source>
        <translation>
            <numerusform>エントリー%n件</numerusform>
        </translation>
    </message>
    <message>
        <source>{time} {goal}</source>
        <translation>{goal}{time}</translation>
    </message>
    <message>
        <source>First place: {names}</source>
        <translation>1位：{names}</translation>
    </message>
</context>
<context>
    <name>CompetitionFigures</name>
    <message>
        <source>Your points</source>
        <translation>あなたのポイント</translation>
    </message>
    <message>
        <source>Entrants</source>
        <translation>エントリー</translation>
    </message>
    <message>
        <source>Texts</source>
        <translation>テキスト</translation>
    </message>
    <message>
        <source>Evaluators</source>
        <translation>評価者</translation>
    </message>
    <message>
        <source>{points} points in the runs of its entrants</source>
        <translation>エントリーの学習プロジェクトで{points}ポイント</translation>
    </message>
    <message>
        <source>{drawn} of {texts}</source>
        <translation>{drawn} / {texts}</translation>
    </message>
</context>
<context>
    <name>CompetitionNotifier</name>
    <message numerus="yes">
        <source>This computer scores %n model(s) when it may lend.</source>
        <translation>
            <numerusform>このコンピューターは、提供できるときに%n個のモデルを採点します。</numerusform>
        </translation>
    </message>
    <message>
        <source>You were drawn to judge {name}</source>
        <translation>{name}の審査に選ばれました</translation>
    </message>
    <message>
        <source>You have judged {name}</source>
        <translation>{name}の審査が完了しました</translation>
    </message>
    <message>
        <source>All your scores are in the log. See how the entrants are doing.</source>
        <translation>あなたの採点はすべてログに記録されました。順位を確認できます。</translation>
    </message>
    <message>
        <source>{sides} compete until {time}. See the rules, and join one of them.</source>
        <translation>{sides}が{time}まで競います。ルールを確認して参加できます。</translation>
    </message>
    <message>
        <source>{name} has begun</source>
        <translation>{name}が始まりました</translation>
    </message>
    <message>
        <source>{name}: {time} until the deadline</source>
        <translation>{name}：締め切りまで{time}</translation>
    </message>
    <message>
        <source>Nothing submitted after it counts. See how the entrants are doing.</source>
        <translation>締め切り後の提出は無効です。順位を確認できます。</translation>
    </message>
    <message>
        <source>{name} is decided</source>
        <translation>{name}の結果が出ました</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>学習プロジェクト</translation>
    </message>
    <message numerus="yes">
        <source>{name} and %n other(s)</source>
        <translation>
            <numerusform>{name}ほか%n件</numerusform>
        </translation>
    </message>
    <message>
        <source>{names} and {last}</source>
        <translation>{names}、{last}</translation>
    </message>
    <message>
        <source>It ended without a ranking. See the reason and the scores.</source>
        <translation>順位なしで終了しました。理由と採点を確認できます。</translation>
    </message>
    <message>
        <source>First: {names}, with {score} bits per byte of text (perplexity {perplexity} per byte).</source>
        <translation>1位：{names}、テキスト1バイトあたり{score}ビット（バイトあたりのパープレキシティ{perplexity}）。</translation>
    </message>
</context>
<context>
    <name>CompetitionSummaryCard</name>
    <message>
        <source>Open the ledger's page</source>
        <translation>台帳のページを開く</translation>
    </message>
</context>
<context>
    <name>ConnectControl</name>
    <message>
        <source>Link…</source>
        <translation>連携…</translation>
    </message>
    <message>
        <source>Linked</source>
        <translation>連携済み</translation>
    </message>
    <message>
        <source>Invited</source>
        <translation>招待済み</translation>
    </message>
</context>
<context>
    <name>ConnectDialog</name>
    <message>
        <source>Link an account</source>
        <translation>アカウントの連携</translation>
    </message>
    <message>
        <source>Some runs ask for it. The public log then shows that a person is behind your key, and which keys are theirs, but not who it is.</source>
        <translation>連携を求める学習プロジェクトがあります。公開ログには、キーの背後に人がいることと、その人のキーがどれかが示されますが、誰であるかは示されません。</translation>
    </message>
    <message>
        <source>Get a code</source>
        <translation>コードを取得</translation>
    </message>
    <message>
        <source>Address of the connector</source>
        <translation>コネクターのアドレス</translation>
    </message>
    <message>
        <source>Provider, if it has several</source>
        <translation>プロバイダー（複数ある場合）</translation>
    </message>
    <message>
        <source>The organisers of the network name connectors that they trust.</source>
        <translation>ネットワークの主催者が、信頼するコネクターを公表しています。</translation>
    </message>
    <message>
        <source>Code</source>
        <translation>コード</translation>
    </message>
    <message>
        <source>Open the page</source>
        <translation>ページを開く</translation>
    </message>
    <message>
        <source>Never share this code, and never enter one that somebody else gave you.</source>
        <translation>このコードを人に教えないでください。また、他人から渡されたコードは入力しないでください。</translation>
    </message>
    <message>
        <source>Enter this code</source>
        <translation>このコードを入力</translation>
    </message>
    <message>
        <source>At {url}, signed in with your account there.</source>
        <translation>{url}にアカウントでサインインして入力してください。</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>閉じる</translation>
    </message>
    <message>
        <source>The code was not used in time. Open this dialog again.</source>
        <translation>コードは時間内に使われませんでした。このダイアログを開き直してください。</translation>
    </message>
</context>
<context>
    <name>ConsentCard</name>
    <message>
        <source>{traffic} GB of traffic a month</source>
        <translation>月{traffic} GBの通信量</translation>
    </message>
    <message>
        <source>I lend this computer to Tequio as chosen here: it may use the graphics card, the processor, up to {disk} GB of disk, {traffic}, and the power that takes. I am allowed to decide this for this computer.</source>
        <translation>ここで選んだとおり、このコンピューターをTequioに提供します。グラフィックスカード、プロセッサ、最大{disk} GBのディスク、{traffic}、およびそれに伴う電力の使用を認めます。私にはこのコンピューターについて決める権限があります。</translation>
    </message>
    <message>
        <source>traffic without a limit</source>
        <translation>無制限の通信量</translation>
    </message>
    <message>
        <source>I agree</source>
        <translation>同意する</translation>
    </message>
    <message>
        <source>You can pause, change or stop at any time.</source>
        <translation>いつでも一時停止、変更、停止できます。</translation>
    </message>
</context>
<context>
    <name>Conversation</name>
    <message>
        <source>The worker sent an invalid message ({problem}).</source>
        <translation>ワーカーが無効なメッセージを送りました（{problem}）。</translation>
    </message>
    <message>
        <source>The worker is still being started.</source>
        <translation>ワーカーを起動しています。</translation>
    </message>
    <message>
        <source>The worker has not answered in time.</source>
        <translation>ワーカーが時間内に応答しませんでした。</translation>
    </message>
    <message>
        <source>The worker has not answered in time. It may still carry out the request.</source>
        <translation>ワーカーが時間内に応答しませんでした。リクエストはまだ実行される可能性があります。</translation>
    </message>
    <message>
        <source>The worker does not answer any more.</source>
        <translation>ワーカーが応答しなくなりました。</translation>
    </message>
</context>
<context>
    <name>CopyLine</name>
    <message>
        <source>Copy</source>
        <translation>コピー</translation>
    </message>
    <message>
        <source>Copy: {name}</source>
        <translation>コピー：{name}</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>コピーしました</translation>
    </message>
</context>
<context>
    <name>CostCard</name>
    <message>
        <source>Hours per day</source>
        <translation>1日の時間</translation>
    </message>
    <message numerus="yes">
        <source>%n hour(s)</source>
        <translation>
            <numerusform>%n時間</numerusform>
        </translation>
    </message>
    <message>
        <source>Price per kWh</source>
        <translation>1 kWhの料金</translation>
    </message>
    <message>
        <source>not entered</source>
        <translation>未入力</translation>
    </message>
    <message>
        <source>What it costs in power</source>
        <translation>電気代の目安</translation>
    </message>
    <message>
        <source>while it trains</source>
        <translation>学習中</translation>
    </message>
    <message>
        <source>{energy} kWh</source>
        <translation>{energy} kWh</translation>
    </message>
    <message>
        <source>per month</source>
        <translation>1か月</translation>
    </message>
    <message>
        <source>Checking this computer. Until then, the range covers most graphics cards.</source>
        <translation>このコンピューターを調べています。範囲は一般的なグラフィックスカードのものです。</translation>
    </message>
    <message>
        <source>{device}: no graphics card was found. The range covers most processors.</source>
        <translation>{device}：グラフィックスカードが見つかりません。範囲はプロセッサのものです。</translation>
    </message>
    <message>
        <source>{device}: from 60% of its power limit to all of it.</source>
        <translation>{device}：電力上限の60%～100%。</translation>
    </message>
    <message>
        <source>{device} does not report its limit. The range covers most cards.</source>
        <translation>{device}は上限を報告していません。範囲は一般的なカードのものです。</translation>
    </message>
    <message>
        <source>For this device only. If your PC would otherwise be asleep, add 40 to 90 W.</source>
        <translation>このデバイスのみの値です。本来スリープしているPCなら、40～90 Wを加えてください。</translation>
    </message>
    <message>
        <source>This is a rough household price: enter yours.</source>
        <translation>家庭向け料金のおおよその値です。ご自宅の料金を入力してください。</translation>
    </message>
</context>
<context>
    <name>DaysCard</name>
    <message>
        <source>Points per day</source>
        <translation>1日あたりのポイント</translation>
    </message>
    <message>
        <source>30 days</source>
        <translation>30日</translation>
    </message>
    <message>
        <source>A round trains for about {time} and is checked after that.</source>
        <translation>1ラウンドの学習は約{time}で、その後に検証されます。</translation>
    </message>
    <message>
        <source>{total} points in {days} days; most on {day}: {peak}</source>
        <translation>{days}日間で{total}ポイント。最多は{day}：{peak}</translation>
    </message>
    <message>
        <source>Your verified points for each day will appear here after your first round.</source>
        <translation>最初のラウンド以降、検証済みポイントが日ごとに表示されます。</translation>
    </message>
</context>
<context>
    <name>DetailsButton</name>
    <message>
        <source>Details</source>
        <translation>詳細</translation>
    </message>
</context>
<context>
    <name>DetailsDialog</name>
    <message>
        <source>Details</source>
        <translation>詳細</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>コピー</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>閉じる</translation>
    </message>
</context>
<context>
    <name>DeviceCard</name>
    <message>
        <source>Lend {device}</source>
        <translation>{device}を提供</translation>
    </message>
    <message>
        <source>Role</source>
        <translation>役割</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>自動</translation>
    </message>
    <message>
        <source>Trainer</source>
        <translation>トレーナー</translation>
    </message>
    <message>
        <source>Witness</source>
        <translation>検証者</translation>
    </message>
    <message>
        <source>Trainers train the model; witnesses check their work. Automatic does both. Default: automatic.</source>
        <translation>トレーナーはモデルを学習し、検証者はその作業を確認します。「自動」は両方を行います。既定値：自動。</translation>
    </message>
    <message>
        <source>While I use the computer</source>
        <translation>コンピューターの使用中</translation>
    </message>
    <message>
        <source>Lends this card also while you use the computer or play on another one. Stops when another program uses it. Default: off.</source>
        <translation>コンピューターの使用中や、別のカードでのゲーム中も、このカードを提供します。ほかのプログラムがこのカードを使うと停止します。既定値：オフ。</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>学習プロジェクト</translation>
    </message>
    <message>
        <source>The run that this device trains. Two devices of one computer never train the same run. Default: automatic.</source>
        <translation>このデバイスが学習するプロジェクトです。1台のコンピューターの2つのデバイスが同じものを学習することはありません。既定値：自動。</translation>
    </message>
    <message>
        <source>Processor</source>
        <translation>プロセッサ</translation>
    </message>
    <message>
        <source>Not known yet</source>
        <translation>まだ不明</translation>
    </message>
    <message>
        <source>Not readable now</source>
        <translation>現在読み込めません</translation>
    </message>
    <message>
        <source>No longer open</source>
        <translation>受付終了</translation>
    </message>
    <message numerus="yes">
        <source>%n core(s)</source>
        <translation>
            <numerusform>%nコア</numerusform>
        </translation>
    </message>
    <message>
        <source>{memory} of memory</source>
        <translation>メモリ{memory}</translation>
    </message>
    <message>
        <source>driver {version}</source>
        <translation>ドライバー{version}</translation>
    </message>
    <message>
        <source>{run}: round {round} of {rounds}</source>
        <translation>{run}：ラウンド{round} / {rounds}</translation>
    </message>
    <message>
        <source>Computing</source>
        <translation>計算中</translation>
    </message>
    <message>
        <source>Computing, {share} of the time</source>
        <translation>計算中（時間の{share}）</translation>
    </message>
    <message>
        <source>Between rounds</source>
        <translation>次のラウンド待ち</translation>
    </message>
    <message>
        <source>Starting</source>
        <translation>開始中</translation>
    </message>
    <message>
        <source>Stopping</source>
        <translation>停止中</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>失敗</translation>
    </message>
    <message>
        <source>Ready</source>
        <translation>準備完了</translation>
    </message>
    <message>
        <source>Not lent</source>
        <translation>提供していません</translation>
    </message>
    <message>
        <source>Stops lending now</source>
        <translation>提供を今すぐ停止</translation>
    </message>
</context>
<context>
    <name>DeviceLimits</name>
    <message>
        <source>Share of the time</source>
        <translation>時間の割合</translation>
    </message>
    <message>
        <source>How much of the time this device works.</source>
        <translation>このデバイスが動作する時間の割合です。</translation>
    </message>
    <message>
        <source>Usual</source>
        <translation>標準</translation>
    </message>
    <message>
        <source>{memory}, automatic</source>
        <translation>{memory}（自動）</translation>
    </message>
    <message>
        <source>No goal</source>
        <translation>目標なし</translation>
    </message>
    <message>
        <source>{threads}, automatic</source>
        <translation>{threads}（自動）</translation>
    </message>
    <message>
        <source>Left to the desktop: 2 GB at least, unless you choose more here.</source>
        <translation>デスクトップ用に残すメモリです。ここで増やさない限り、2 GB以上を残します。</translation>
    </message>
    <message>
        <source>{free} This card has {total}.</source>
        <translation>{free}このカードの合計は{total}です。</translation>
    </message>
    <message>
        <source>VRAM</source>
        <translation>VRAM</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>自動</translation>
    </message>
    <message>
        <source>Power goal</source>
        <translation>目標電力</translation>
    </message>
    <message>
        <source>Kept by resting between steps; the card's own limit is {most}.</source>
        <translation>ステップの間に休むことで守ります。カード自体の上限は{most}です。</translation>
    </message>
    <message>
        <source>Slows down to stay below this; stops at 5 °C above it.</source>
        <translation>これを超えないよう速度を落とし、5 °C超えると停止します。</translation>
    </message>
    <message>
        <source>Temperature goal</source>
        <translation>目標温度</translation>
    </message>
    <message>
        <source>Of {cores} cores; one stays free unless you choose otherwise.</source>
        <translation>{cores}コアのうち、変更しない限り1つを空けておきます。</translation>
    </message>
    <message>
        <source>Threads</source>
        <translation>スレッド数</translation>
    </message>
</context>
<context>
    <name>EntryPane</name>
    <message>
        <source>How</source>
        <translation>方法</translation>
    </message>
    <message>
        <source>Join with a link</source>
        <translation>リンクで参加</translation>
    </message>
    <message>
        <source>Found a team</source>
        <translation>チームを作成</translation>
    </message>
    <message>
        <source>Join link or code of a team</source>
        <translation>チームの参加リンクまたはコード</translation>
    </message>
    <message>
        <source>Name of the new team</source>
        <translation>新しいチームの名前</translation>
    </message>
    <message>
        <source>2 to 32 letters of one script and digits. The name is public and stays. You can found one team every 30 days.</source>
        <translation>1種類の文字体系の文字と数字で2～32文字。名前は公開され、変更できません。チームは30日に1つ作成できます。</translation>
    </message>
    <message>
        <source>Ask the owner of the team for its link or code.</source>
        <translation>リンクまたはコードは、チームのオーナーに確認してください。</translation>
    </message>
</context>
<context>
    <name>ErrorReportDialog</name>
    <message>
        <source>Tequio – a fault</source>
        <translation>Tequio – エラー</translation>
    </message>
    <message>
        <source>Report</source>
        <translation>レポート</translation>
    </message>
    <message>
        <source>Copy report</source>
        <translation>レポートをコピー</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>続ける</translation>
    </message>
    <message numerus="yes">
        <source>%n more fault(s) since</source>
        <translation>
            <numerusform>その後さらに%n件のエラー</numerusform>
        </translation>
    </message>
    <message>
        <source>Something went wrong in Tequio's window</source>
        <translation>Tequioのウィンドウで問題が発生しました</translation>
    </message>
    <message>
        <source>Lending is not affected: it runs in a program of its own. Nothing was sent to anybody. If you want to report this, copy the text below; keys and names of your folders were taken out of it.</source>
        <translation>提供は別のプログラムで動いているため、影響はありません。どこにも何も送信していません。報告する場合は、下の文章をコピーしてください。キーとフォルダー名は取り除いてあります。</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>コピーしました</translation>
    </message>
</context>
<context>
    <name>EventsRows</name>
    <message>
        <source>Good: {words}</source>
        <translation>正常：{words}</translation>
    </message>
    <message>
        <source>Attention: {words}</source>
        <translation>注意：{words}</translation>
    </message>
    <message>
        <source>Problem: {words}</source>
        <translation>問題：{words}</translation>
    </message>
</context>
<context>
    <name>ExclusiveList</name>
    <message>
        <source>Add a program</source>
        <translation>プログラムを追加</translation>
    </message>
    <message>
        <source>No programs yet.</source>
        <translation>プログラムはまだありません。</translation>
    </message>
    <message>
        <source>{program} was removed from the list.</source>
        <translation>{program}を一覧から削除しました。</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>削除</translation>
    </message>
    <message>
        <source>Remove {program}</source>
        <translation>{program}を削除</translation>
    </message>
</context>
<context>
    <name>FirstRun</name>
    <message>
        <source>Back</source>
        <translation>戻る</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>後で</translation>
    </message>
    <message>
        <source>Step {number} of {steps}</source>
        <translation>ステップ{number} / {steps}</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>次へ</translation>
    </message>
    <message>
        <source>You are invited to “{network}”. Step 3 makes your key; then you can join.</source>
        <translation>「{network}」に招待されています。ステップ3でキーを作成すると、参加できます。</translation>
    </message>
    <message>
        <source>You are invited to “{network}”.</source>
        <translation>「{network}」に招待されています。</translation>
    </message>
    <message>
        <source>Join</source>
        <translation>参加</translation>
    </message>
</context>
<context>
    <name>FolderLine</name>
    <message>
        <source>Folder</source>
        <translation>フォルダー</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>開く</translation>
    </message>
    <message>
        <source>Open the folder</source>
        <translation>フォルダーを開く</translation>
    </message>
</context>
<context>
    <name>HardwarePage</name>
    <message>
        <source>Choose what Tequio may use. Each device that is lent trains a run of its own. Changes apply immediately.</source>
        <translation>Tequioが使うものを選びます。提供するデバイスごとに、別の学習プロジェクトを学習します。変更はすぐに反映されます。</translation>
    </message>
    <message>
        <source>Hardware</source>
        <translation>ハードウェア</translation>
    </message>
    <message>
        <source>The worker is being started; its devices will appear here.</source>
        <translation>ワーカーを起動しています。起動後、デバイスがここに表示されます。</translation>
    </message>
    <message>
        <source>The hardware is being checked; its devices will appear here.</source>
        <translation>ハードウェアを確認しています。確認後、デバイスがここに表示されます。</translation>
    </message>
    <message>
        <source>The hardware probe is not responding, so the state of the graphics cards is unknown. Nothing is lent until it responds; Tequio restarts it automatically.</source>
        <translation>ハードウェアの検出が応答しないため、グラフィックスカードの状態がわかりません。応答するまで提供しません。Tequioが自動的に再起動します。</translation>
    </message>
    <message>
        <source>No graphics card was found that can train. The CPU is lent instead. It's slower, but still earns points.</source>
        <translation>学習できるグラフィックスカードが見つからないため、代わりにCPUを提供します。速度は落ちますが、ポイントは獲得できます。</translation>
    </message>
    <message>
        <source>No graphics card was found that can train. The CPU can be lent instead.</source>
        <translation>学習できるグラフィックスカードが見つかりません。代わりにCPUを提供できます。</translation>
    </message>
    <message>
        <source>Lend the processor</source>
        <translation>プロセッサを提供</translation>
    </message>
    <message>
        <source>{device} is no longer lent.</source>
        <translation>{device}の提供を終了しました。</translation>
    </message>
</context>
<context>
    <name>HealthView</name>
    <message>
        <source>Your session</source>
        <translation>セッション</translation>
    </message>
    <message>
        <source>Nothing is known about your session yet.</source>
        <translation>セッションの情報はまだありません。</translation>
    </message>
    <message>
        <source>The hardware is being checked…</source>
        <translation>ハードウェアを確認しています…</translation>
    </message>
    <message>
        <source>The hardware probe is not responding. The worker restarts it automatically.</source>
        <translation>ハードウェアの検出が応答しません。ワーカーが自動的に再起動します。</translation>
    </message>
    <message>
        <source>This computer</source>
        <translation>このコンピューター</translation>
    </message>
    <message numerus="yes">
        <source>All %n check(s) are working.</source>
        <translation>
            <numerusform>%n件の検出はすべて正常に動作しています。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n check(s) aren't working.</source>
        <translation>
            <numerusform>%n件の検出が動作していません。</numerusform>
        </translation>
    </message>
    <message>
        <source>If Tequio isn't sure, it stays paused.</source>
        <translation>Tequioは確信が持てない場合、一時停止したままになります。</translation>
    </message>
    <message>
        <source>Some checks have not responded yet.</source>
        <translation>まだ応答していない検出があります。</translation>
    </message>
</context>
<context>
    <name>HelpDialog</name>
    <message>
        <source>Keyboard and help</source>
        <translation>キーボードとヘルプ</translation>
    </message>
    <message>
        <source>Read this page again</source>
        <translation>このページを再読み込み</translation>
    </message>
    <message>
        <source>Go to the next control, and use it</source>
        <translation>次の項目に移動して操作</translation>
    </message>
    <message>
        <source>Search the settings</source>
        <translation>設定を検索</translation>
    </message>
    <message>
        <source>Close the window; Tequio goes on in the tray</source>
        <translation>ウィンドウを閉じる（Tequioはトレイで動作を続けます）</translation>
    </message>
    <message>
        <source>Quit, and stop lending</source>
        <translation>終了して提供を停止</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>閉じる</translation>
    </message>
    <message>
        <source>Every command explains itself: tequio --help. Version {version}.</source>
        <translation>どのコマンドにも説明があります：tequio --help。バージョン{version}。</translation>
    </message>
</context>
<context>
    <name>HomeHeader</name>
    <message>
        <source>Snooze</source>
        <translation>スヌーズ</translation>
    </message>
    <message>
        <source>Finish round, then stop</source>
        <translation>ラウンド終了後に停止</translation>
    </message>
    <message>
        <source>Ends the round under way, so that none of its work is lost.</source>
        <translation>進行中のラウンドを終えてから停止し、作業を無駄にしません。</translation>
    </message>
    <message>
        <source>Go on after this round</source>
        <translation>このラウンドの後も続ける</translation>
    </message>
    <message>
        <source>Start now anyway</source>
        <translation>それでも今すぐ開始</translation>
    </message>
    <message>
        <source>Starts although a rule says to wait.</source>
        <translation>待つべきルールがあっても開始します。</translation>
    </message>
    <message>
        <source>Change this rule</source>
        <translation>このルールを変更</translation>
    </message>
    <message>
        <source>Nothing is lent until this is solved.</source>
        <translation>解決するまで提供しません。</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>一時停止</translation>
    </message>
    <message>
        <source>Stops at once and gives the device back.</source>
        <translation>すぐに停止し、デバイスを解放します。</translation>
    </message>
    <message>
        <source>Set up</source>
        <translation>セットアップ</translation>
    </message>
    <message>
        <source>Resume now</source>
        <translation>今すぐ再開</translation>
    </message>
    <message>
        <source>Contribute</source>
        <translation>提供を開始</translation>
    </message>
</context>
<context>
    <name>InvitationDialog</name>
    <message>
        <source>Join</source>
        <translation>参加</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>後で</translation>
    </message>
    <message>
        <source>An invitation</source>
        <translation>招待</translation>
    </message>
    <message>
        <source>Checking this invitation with {ledger}…</source>
        <translation>{ledger}に招待を確認しています…</translation>
    </message>
    <message>
        <source>Join the run “{run}”?</source>
        <translation>学習プロジェクト「{run}」に参加しますか？</translation>
    </message>
    <message>
        <source>Join the network “{network}”?</source>
        <translation>ネットワーク「{network}」に参加しますか？</translation>
    </message>
    <message>
        <source>The organisers of the network “{network}” invite you (entry {index} of the log at {ledger}).</source>
        <translation>ネットワーク「{network}」の主催者があなたを招待しています（{ledger}のログのエントリ{index}）。</translation>
    </message>
    <message>
        <source>Make my key</source>
        <translation>キーを作成</translation>
    </message>
    <message>
        <source>Your key comes first: it is made in the first steps. Then this question comes again.</source>
        <translation>先にキーが必要です。最初の手順で作成した後、もう一度この質問が表示されます。</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>閉じる</translation>
    </message>
    <message>
        <source>This invitation cannot be used</source>
        <translation>この招待は使えません</translation>
    </message>
    <message>
        <source>Nothing was changed.</source>
        <translation>何も変更されていません。</translation>
    </message>
    <message>
        <source>Joining. This may take a minute.</source>
        <translation>参加しています。1分ほどかかることがあります。</translation>
    </message>
    <message>
        <source>Your key is in this network already and stays as it is; the invitation is not used up.</source>
        <translation>あなたのキーはすでにこのネットワークにあり、そのまま使えます。招待は消費されません。</translation>
    </message>
    <message numerus="yes">
        <source>%n use(s) left, valid until {until}.</source>
        <translation>
            <numerusform>残り%n回、有効期限は{until}。</numerusform>
        </translation>
    </message>
    <message>
        <source>Everybody can read in the log that this invitation let your key in; the organisers can take it back.</source>
        <translation>この招待であなたのキーが参加したことは、ログで誰でも確認できます。主催者は取り消すことができます。</translation>
    </message>
    <message>
        <source>You will lend to this ledger instead of {old}. The settings change it back.</source>
        <translation>{old}ではなく、この台帳に提供するようになります。設定で元に戻せます。</translation>
    </message>
    <message>
        <source>What you have chosen about when and how much to lend holds as before.</source>
        <translation>提供する時間と量の設定は、そのまま有効です。</translation>
    </message>
    <message>
        <source>Nothing is lent before you have gone through the first steps.</source>
        <translation>最初の手順を終えるまで、何も提供しません。</translation>
    </message>
    <message>
        <source>You choose the run, among all of this network.</source>
        <translation>このネットワークの学習プロジェクトから選べます。</translation>
    </message>
    <message numerus="yes">
        <source>%n computers are in it now</source>
        <translation>
            <numerusform>現在%n台のコンピューターが参加中</numerusform>
        </translation>
    </message>
    <message>
        <source>{tokens} tokens were trained so far</source>
        <translation>これまでに{tokens}トークンを学習</translation>
    </message>
    <message>
        <source>{members}; {tokens}</source>
        <translation>{members}、{tokens}</translation>
    </message>
    <message>
        <source>The server at {ledger} does not answer as a ledger ({detail}). Try the link again later, or ask its sender.</source>
        <translation>{ledger}のサーバーが台帳として応答しません（{detail}）。後でもう一度リンクを開くか、送信者に確認してください。</translation>
    </message>
    <message>
        <source>{ledger} belongs to another network than this link. Ask its sender for a new link.</source>
        <translation>{ledger}は、このリンクとは別のネットワークのものです。送信者に新しいリンクを依頼してください。</translation>
    </message>
    <message>
        <source>The network does not know this invitation yet. A second organiser may still have to sign it. Try the link again later, or ask its sender.</source>
        <translation>ネットワークはこの招待をまだ認識していません。2人目の主催者の署名が必要なことがあります。後でもう一度リンクを開くか、送信者に確認してください。</translation>
    </message>
    <message>
        <source>The organisers have ended this invitation. Ask for another.</source>
        <translation>主催者がこの招待を終了しました。別の招待を依頼してください。</translation>
    </message>
    <message>
        <source>This invitation has expired. Ask for another.</source>
        <translation>この招待は期限切れです。別の招待を依頼してください。</translation>
    </message>
    <message>
        <source>This invitation has been used up. Ask for another.</source>
        <translation>この招待は使い切られています。別の招待を依頼してください。</translation>
    </message>
    <message>
        <source>The run “{detail}” has ended.</source>
        <translation>学習プロジェクト「{detail}」は終了しました。</translation>
    </message>
    <message>
        <source>This app's folder belongs to another network, with its key and points. Join on the command line, in a folder of its own: tequio join LINK --dir FOLDER</source>
        <translation>このアプリのフォルダーは、キーとポイントとともに別のネットワークに属しています。コマンドラインで別のフォルダーを使って参加してください：tequio join LINK --dir FOLDER</translation>
    </message>
    <message>
        <source>This invitation link is incomplete ({detail}). Open it again from where you got it.</source>
        <translation>この招待リンクは不完全です（{detail}）。入手元からもう一度開いてください。</translation>
    </message>
    <message>
        <source>The worker here was started elsewhere. End it, then open the link again.</source>
        <translation>ここのワーカーは別の場所で起動されました。終了してから、リンクをもう一度開いてください。</translation>
    </message>
</context>
<context>
    <name>JoinNetworkDialog</name>
    <message>
        <source>This computer is in the network at {ledger} now.</source>
        <translation>このコンピューターは現在、{ledger}のネットワークに参加しています。</translation>
    </message>
    <message>
        <source>A link names the network at this address. Nothing is lent by joining: you decide later when this computer works for it.</source>
        <translation>リンクがこのアドレスのネットワークを指定しました。参加するだけでは何も提供されません。このコンピューターがいつ作業するかは、後で決められます。</translation>
    </message>
    <message>
        <source>Choose the network that this computer should work for.</source>
        <translation>このコンピューターが参加するネットワークを選びます。</translation>
    </message>
    <message>
        <source>Join this network?</source>
        <translation>このネットワークに参加しますか？</translation>
    </message>
    <message>
        <source>Join a network</source>
        <translation>ネットワークに参加</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>キャンセル</translation>
    </message>
</context>
<context>
    <name>JoinedCard</name>
    <message>
        <source>Since you joined</source>
        <translation>参加してからの変化</translation>
    </message>
    <message>
        <source>None of your work has been accepted yet. Once it is, you can see here how the model has changed since.</source>
        <translation>あなたの作業はまだ受け入れられていません。受け入れられると、その後のモデルの変化がここに表示されます。</translation>
    </message>
    <message>
        <source>Your work has counted since round {round}. The model has not been measured since.</source>
        <translation>あなたの作業はラウンド{round}から反映されています。それ以降、モデルはまだ測定されていません。</translation>
    </message>
    <message>
        <source>Your work has counted since round {round}. The next measure will show how the model changes.</source>
        <translation>あなたの作業はラウンド{round}から反映されています。次の測定でモデルの変化がわかります。</translation>
    </message>
    <message>
        <source>Since your work first counted, in round {round}, the model has improved from {then} to {now} bits per byte on unseen text: {percent} fewer. Its perplexity went from {before} to {after}.</source>
        <translation>あなたの作業が初めて反映されたラウンド{round}以降、モデルは未知のテキストで1バイトあたり{then}ビットから{now}ビットに改善しました：{percent}減。パープレキシティは{before}から{after}になりました。</translation>
    </message>
    <message>
        <source>Since your work first counted, in round {round}, the model has gone from {then} to {now} bits per byte on unseen text: {percent} more. Its perplexity went from {before} to {after}. Lower is better; both go up and down from round to round.</source>
        <translation>あなたの作業が初めて反映されたラウンド{round}以降、モデルは未知のテキストで1バイトあたり{then}ビットから{now}ビットになりました：{percent}増。パープレキシティは{before}から{after}になりました。どちらも小さいほど良く、ラウンドごとに上下します。</translation>
    </message>
</context>
<context>
    <name>JudgingCard</name>
    <message>
        <source>Judging</source>
        <translation>審査</translation>
    </message>
    <message>
        <source>Offer to judge</source>
        <translation>審査に応募</translation>
    </message>
    <message>
        <source>Resume judging</source>
        <translation>審査を再開</translation>
    </message>
    <message>
        <source>Stop judging</source>
        <translation>審査を停止</translation>
    </message>
</context>
<context>
    <name>KeyAccount</name>
    <message>
        <source>The worker does not answer</source>
        <translation>ワーカーが応答しません</translation>
    </message>
</context>
<context>
    <name>KeyCard</name>
    <message>
        <source>24 words…</source>
        <translation>24語の単語…</translation>
    </message>
    <message>
        <source>Save a file…</source>
        <translation>ファイルを保存…</translation>
    </message>
    <message>
        <source>Change how it's stored…</source>
        <translation>保存方法を変更…</translation>
    </message>
    <message>
        <source>Restore another…</source>
        <translation>別のキーを復元…</translation>
    </message>
    <message>
        <source>A sealed key</source>
        <translation>暗号化されたキー</translation>
    </message>
    <message>
        <source>No key</source>
        <translation>キーなし</translation>
    </message>
    <message>
        <source>You don't have a key yet.</source>
        <translation>キーはまだありません。</translation>
    </message>
    <message>
        <source>Kept in this system's keyring: the file alone is worth nothing.</source>
        <translation>このシステムのキーリングに保存されています。ファイルだけでは役に立ちません。</translation>
    </message>
    <message>
        <source>Kept under your passphrase, which is asked at each start.</source>
        <translation>パスフレーズで保護され、起動のたびに入力が必要です。</translation>
    </message>
    <message>
        <source>Stored unencrypted, in a file only your user account can read.</source>
        <translation>暗号化せず、あなたのユーザーアカウントだけが読めるファイルに保存されています。</translation>
    </message>
    <message>
        <source>No backup yet</source>
        <translation>バックアップなし</translation>
    </message>
    <message>
        <source>Back it up now, or later: until then Home reminds you. If this disk fails without a backup, your points cannot be claimed.</source>
        <translation>今すぐ、または後でバックアップしてください。それまでホームでお知らせします。バックアップがないままディスクが壊れると、ポイントを取り戻せません。</translation>
    </message>
    <message>
        <source>Backed up as words, {day}</source>
        <translation>単語でバックアップ済み（{day}）</translation>
    </message>
    <message>
        <source>Backed up as a file, {day}</source>
        <translation>ファイルでバックアップ済み（{day}）</translation>
    </message>
    <message>
        <source>You can make as many backups as you like; all remain valid.</source>
        <translation>バックアップは何度でも作成でき、すべて有効です。</translation>
    </message>
</context>
<context>
    <name>KeyDialog</name>
    <message>
        <source>Cancel</source>
        <translation>キャンセル</translation>
    </message>
</context>
<context>
    <name>KeyStep</name>
    <message>
        <source>Your key</source>
        <translation>あなたのキー</translation>
    </message>
    <message>
        <source>Your key is your account: no e-mail and no sign-up. It signs your work, and the points belong to it.</source>
        <translation>キーがアカウントです。メールアドレスも登録も不要です。キーが作業に署名し、ポイントはキーに属します。</translation>
    </message>
</context>
<context>
    <name>LeaveDialog</name>
    <message>
        <source>Nothing is lent. What you chose is kept, and “Set up” on Home returns to this step.</source>
        <translation>何も提供されません。選択内容は保存され、ホームの「セットアップ」でこの手順に戻れます。</translation>
    </message>
    <message>
        <source>What you chose here is dropped, and lending stays as it was.</source>
        <translation>ここで選んだ内容は破棄され、提供は今までどおりです。</translation>
    </message>
    <message>
        <source>Leave this for now?</source>
        <translation>中断しますか？</translation>
    </message>
    <message>
        <source>Leave for now</source>
        <translation>中断する</translation>
    </message>
    <message>
        <source>Go on here</source>
        <translation>続ける</translation>
    </message>
</context>
<context>
    <name>LedgerCheck</name>
    <message>
        <source>{address} is not a valid ledger address: it must begin with http:// or https:// and name a computer, for example https://ledger.example.</source>
        <translation>{address}は有効な台帳アドレスではありません。http://またはhttps://で始まり、コンピューター名を含む必要があります。例：https://ledger.example。</translation>
    </message>
    <message>
        <source>Nothing answers at {address}. Check the address and your connection.</source>
        <translation>{address}から応答がありません。アドレスと接続を確認してください。</translation>
    </message>
    <message>
        <source>{address} is not a ledger. Check the address with its sender.</source>
        <translation>{address}は台帳ではありません。送信者にアドレスを確認してください。</translation>
    </message>
</context>
<context>
    <name>LedgerField</name>
    <message>
        <source>Ledger's address</source>
        <translation>台帳のアドレス</translation>
    </message>
    <message>
        <source>Join a network…</source>
        <translation>ネットワークに参加…</translation>
    </message>
    <message>
        <source>Connecting…</source>
        <translation>接続しています…</translation>
    </message>
    <message>
        <source>No network was chosen yet.</source>
        <translation>ネットワークはまだ選ばれていません。</translation>
    </message>
    <message>
        <source>Not answering now. Tequio keeps trying.</source>
        <translation>現在応答がありません。Tequioは引き続き試行します。</translation>
    </message>
    <message>
        <source>Connected.</source>
        <translation>接続済み。</translation>
    </message>
</context>
<context>
    <name>ListPage</name>
    <message>
        <source>Refresh</source>
        <translation>更新</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>再試行</translation>
    </message>
    <message>
        <source>This list is from {time}. {problem}; Tequio keeps trying.</source>
        <translation>この一覧は{time}のものです。{problem}。Tequioは引き続き試行します。</translation>
    </message>
</context>
<context>
    <name>ListenField</name>
    <message>
        <source>Listen address</source>
        <translation>待ち受けアドレス</translation>
    </message>
    <message>
        <source>{address} is not a valid listen address: write /ip4/0.0.0.0/tcp/4001, or leave it empty.</source>
        <translation>{address}は有効な待ち受けアドレスではありません。/ip4/0.0.0.0/tcp/4001のように書くか、空にしてください。</translation>
    </message>
</context>
<context>
    <name>LoginSwitch</name>
    <message>
        <source>Start at login</source>
        <translation>ログイン時に起動</translation>
    </message>
    <message>
        <source>The system refused the change: {why}. Add Tequio to its startup programs by hand.</source>
        <translation>システムが変更を拒否しました：{why}。Tequioを手動でスタートアッププログラムに追加してください。</translation>
    </message>
    <message>
        <source>The system accepted the change but does not report it. Check its own list of startup programs.</source>
        <translation>システムは変更を受け付けましたが、反映が確認できません。システムのスタートアッププログラムの一覧を確認してください。</translation>
    </message>
</context>
<context>
    <name>LostKeyControl</name>
    <message>
        <source>Use a recovery key…</source>
        <translation>回復キーを使う…</translation>
    </message>
</context>
<context>
    <name>LostKeyDialog</name>
    <message>
        <source>A lost or stolen computer</source>
        <translation>コンピューターの紛失・盗難</translation>
    </message>
    <message>
        <source>The recovery key stops that computer's key permanently: a thief can no longer use it. If the key had no recovery key, a backup of the key itself does the same.</source>
        <translation>回復キーは、そのコンピューターのキーを永久に停止します。盗んだ人はもう使えません。回復キーがない場合は、キー自体のバックアップでも同じことができます。</translation>
    </message>
    <message>
        <source>What to do</source>
        <translation>実行する操作</translation>
    </message>
    <message>
        <source>Only stop its key</source>
        <translation>キーの停止のみ</translation>
    </message>
    <message>
        <source>Move its points here</source>
        <translation>ポイントをここに移す</translation>
    </message>
    <message>
        <source>Key of the lost computer</source>
        <translation>紛失したコンピューターのキー</translation>
    </message>
    <message>
        <source>Its 43 characters, or the address of its page</source>
        <translation>43文字のキー、またはそのページのアドレス</translation>
    </message>
    <message>
        <source>In the full ranking, its name opens that page.</source>
        <translation>全体のランキングで名前を選ぶと、そのページが開きます。</translation>
    </message>
    <message>
        <source>Passphrase of the file</source>
        <translation>ファイルのパスフレーズ</translation>
    </message>
    <message>
        <source>I know that this key can never be used again</source>
        <translation>このキーが二度と使えなくなることを理解しています</translation>
    </message>
    <message>
        <source>Its recovery key</source>
        <translation>その回復キー</translation>
    </message>
    <message>
        <source>Move the points</source>
        <translation>ポイントを移す</translation>
    </message>
    <message>
        <source>Stop the key</source>
        <translation>キーを停止</translation>
    </message>
    <message>
        <source>A new key on this computer gets the points, standing, name and team of the lost one. The key that this computer has now is kept aside, with its own points.</source>
        <translation>このコンピューターの新しいキーが、紛失したキーのポイント、信用、名前、チームを引き継ぎます。今このコンピューターにあるキーは、そのポイントとともに別に保管されます。</translation>
    </message>
    <message>
        <source>It earns nothing more. You can still move its points later.</source>
        <translation>以後ポイントは増えません。ポイントは後からでも移せます。</translation>
    </message>
</context>
<context>
    <name>ModelPage</name>
    <message>
        <source>The model that this computer helps to train.</source>
        <translation>このコンピューターが学習を手伝っているモデルです。</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>モデル</translation>
    </message>
    <message>
        <source>No run yet</source>
        <translation>学習プロジェクトはまだありません</translation>
    </message>
    <message>
        <source>Once this computer is in a run, you can see here what its model learns.</source>
        <translation>このコンピューターが学習プロジェクトに参加すると、モデルが学んだことがここに表示されます。</translation>
    </message>
    <message>
        <source>Open Runs</source>
        <translation>学習プロジェクトを開く</translation>
    </message>
    <message>
        <source>{run}: the model that this computer helps to train.</source>
        <translation>{run}：このコンピューターが学習を手伝っているモデルです。</translation>
    </message>
    <message>
        <source>Couldn't read the measures of this model. Tequio keeps trying.</source>
        <translation>このモデルの測定値を読み込めませんでした。Tequioは引き続き試行します。</translation>
    </message>
    <message>
        <source>The model got worse: after round {number}, it guesses unseen text less well than after round {best}. Several members measured it and agree. The organisers can pause the run and go back to an earlier model.</source>
        <translation>モデルが悪化しました。ラウンド{number}の後のモデルは、ラウンド{best}の後より未見のテキストをうまく予測できません。複数のメンバーが測定し、結果は一致しています。主催者は学習プロジェクトを一時停止し、以前のモデルに戻すことができます。</translation>
    </message>
    <message>
        <source>This model has not been measured yet. Some members measure it every few rounds if the run's rules say so, and the results appear here.</source>
        <translation>このモデルはまだ測定されていません。学習プロジェクトの規則で定められていれば、数ラウンドごとに一部のメンバーが測定し、結果がここに表示されます。</translation>
    </message>
    <message>
        <source>Asking the network how well the model does.</source>
        <translation>モデルの成績をネットワークに問い合わせています。</translation>
    </message>
    <message>
        <source>{problem}. Tequio will keep trying.</source>
        <translation>{problem}。Tequioは引き続き試行します。</translation>
    </message>
    <message>
        <source>Couldn't load the model</source>
        <translation>モデルを読み込めませんでした</translation>
    </message>
    <message>
        <source>Looking for the model</source>
        <translation>モデルを探しています</translation>
    </message>
    <message>
        <source>Asking the network which run this computer is in.</source>
        <translation>このコンピューターが参加している学習プロジェクトをネットワークに問い合わせています。</translation>
    </message>
</context>
<context>
    <name>NameControl</name>
    <message>
        <source>Choose…</source>
        <translation>選択…</translation>
    </message>
    <message>
        <source>Change…</source>
        <translation>変更…</translation>
    </message>
    <message>
        <source>You can choose a name once a round has accepted your work.</source>
        <translation>作業がラウンドで受け入れられると、名前を選べるようになります。</translation>
    </message>
</context>
<context>
    <name>NameDialog</name>
    <message>
        <source>Public name</source>
        <translation>公開名</translation>
    </message>
    <message>
        <source>The name is unique in this network. You can change it once every 30 days, and nobody else can take your former name for that long.</source>
        <translation>名前はこのネットワークで一意です。変更は30日に1回で、その間、以前の名前を他の人が使うことはできません。</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名前</translation>
    </message>
    <message>
        <source>No name</source>
        <translation>名前なし</translation>
    </message>
    <message>
        <source>Names are public and permanent: old ones stay in the log.</source>
        <translation>名前は永久に公開されます。以前の名前もログに残ります。</translation>
    </message>
    <message>
        <source>2 to 32 letters of one script and digits, with single spaces, hyphens or underscores between them.</source>
        <translation>1種類の文字体系の文字と数字で2～32文字。間に半角スペース、ハイフン、下線を1つずつ使えます。</translation>
    </message>
    <message>
        <source>This is not a possible name: use 2 to 32 letters of one script and digits, with single spaces, hyphens or underscores between them.</source>
        <translation>使えない名前です。1種類の文字体系の文字と数字で2～32文字にし、間には半角スペース、ハイフン、下線を1つずつ使ってください。</translation>
    </message>
    <message>
        <source>Remove the name</source>
        <translation>名前を削除</translation>
    </message>
    <message>
        <source>Use this name</source>
        <translation>この名前を使う</translation>
    </message>
</context>
<context>
    <name>NetworkChooser</name>
    <message>
        <source>Address or invitation link</source>
        <translation>アドレスまたは招待リンク</translation>
    </message>
    <message>
        <source>Join</source>
        <translation>参加</translation>
    </message>
    <message>
        <source>Or paste an address</source>
        <translation>またはアドレスを貼り付け</translation>
    </message>
    <message>
        <source>Paste an address</source>
        <translation>アドレスを貼り付け</translation>
    </message>
    <message>
        <source>Organisers publish the address of their network's ledger, or send you an invitation link. Nothing is lent by joining.</source>
        <translation>主催者はネットワークの台帳アドレスを公開するか、招待リンクを送ります。参加するだけでは何も提供されません。</translation>
    </message>
    <message>
        <source>This link is not complete. Copy all of it, from {scheme}:// to its end.</source>
        <translation>リンクが不完全です。{scheme}://から最後まですべてコピーしてください。</translation>
    </message>
    <message>
        <source>Looking for a ledger at {address}…</source>
        <translation>{address}で台帳を探しています…</translation>
    </message>
    <message>
        <source>“{name}” is not the network that your key and points belong to. To join it as well, start the app with another folder: tequio app --dir {folder}</source>
        <translation>「{name}」は、あなたのキーとポイントが属するネットワークではありません。こちらにも参加するには、別のフォルダーでアプリを起動してください：tequio app --dir {folder}</translation>
    </message>
    <message>
        <source>Its log must be signed by independent witnesses, too.</source>
        <translation>ログには、独立した検証者の署名も必要です。</translation>
    </message>
</context>
<context>
    <name>NetworkPanel</name>
    <message>
        <source>First, choose a network</source>
        <translation>まずネットワークを選んでください</translation>
    </message>
    <message>
        <source>Another network…</source>
        <translation>別のネットワーク…</translation>
    </message>
    <message>
        <source>Network: {ledger}</source>
        <translation>ネットワーク：{ledger}</translation>
    </message>
</context>
<context>
    <name>NewKeyCard</name>
    <message>
        <source>Make my key</source>
        <translation>キーを作成</translation>
    </message>
    <message>
        <source>I have one already…</source>
        <translation>すでに持っています…</translation>
    </message>
    <message>
        <source>Where should it be stored?</source>
        <translation>どこに保存しますか？</translation>
    </message>
</context>
<context>
    <name>NewPassphrase</name>
    <message>
        <source>Passphrase</source>
        <translation>パスフレーズ</translation>
    </message>
    <message>
        <source>Repeat the passphrase</source>
        <translation>パスフレーズの再入力</translation>
    </message>
    <message>
        <source>Show what I type</source>
        <translation>入力内容を表示</translation>
    </message>
    <message>
        <source>The two are not the same.</source>
        <translation>2つが一致しません。</translation>
    </message>
    <message>
        <source>At least {least} characters.</source>
        <translation>{least}文字以上にしてください。</translation>
    </message>
    <message>
        <source>Longer is safer: four or five unrelated words do well.</source>
        <translation>長いほど安全です。関連のない単語を4～5語並べるとよいでしょう。</translation>
    </message>
    <message>
        <source>Nobody can reset it: without it the key cannot be opened.</source>
        <translation>誰もリセットできません。これがないとキーを開けません。</translation>
    </message>
</context>
<context>
    <name>Notifier</name>
    <message>
        <source>Tequio goes on in the background</source>
        <translation>Tequioはバックグラウンドで動作を続けます</translation>
    </message>
    <message>
        <source>Its tray icon shows what it is doing, and opens this window again.</source>
        <translation>パネルのアイコンが状態を示し、このウィンドウを再び開きます。</translation>
    </message>
    <message>
        <source>{points} points so far. The log's proof was checked on this computer.</source>
        <translation>これまでに{points}ポイント。ログの証明はこのコンピューターで確認しました。</translation>
    </message>
    <message>
        <source>Your first points are verified</source>
        <translation>最初のポイントが検証されました</translation>
    </message>
    <message>
        <source>You are #{rank} of {ranked}</source>
        <translation>{ranked}人中{rank}位です</translation>
    </message>
    <message numerus="yes">
        <source>%n place(s) up since you were last told.</source>
        <translation>
            <numerusform>前回の通知から%n位上がりました。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n place(s) down since you were last told.</source>
        <translation>
            <numerusform>前回の通知から%n位下がりました。</numerusform>
        </translation>
    </message>
    <message>
        <source>The same place as last time.</source>
        <translation>前回と同じ順位です。</translation>
    </message>
    <message>
        <source>From the network's organisers</source>
        <translation>ネットワークの主催者より</translation>
    </message>
    <message>
        <source>Tequio needs your attention</source>
        <translation>Tequioで対応が必要です</translation>
    </message>
    <message>
        <source>Open Tequio</source>
        <translation>Tequioを開く</translation>
    </message>
</context>
<context>
    <name>OrganiserNotices</name>
    <message>
        <source>From the organisers of this network: {text}</source>
        <translation>このネットワークの主催者より：{text}</translation>
    </message>
    <message>
        <source>{run} is paused by its organisers: {text}</source>
        <translation>{run}は主催者により一時停止されています：{text}</translation>
    </message>
    <message>
        <source>From the organisers of {run}: {text}</source>
        <translation>{run}の主催者より：{text}</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>閉じる</translation>
    </message>
</context>
<context>
    <name>OwnTeamPane</name>
    <message>
        <source>Goal</source>
        <translation>目標</translation>
    </message>
    <message>
        <source>Members of the team</source>
        <translation>チームのメンバー</translation>
    </message>
    <message>
        <source>Join link</source>
        <translation>参加リンク</translation>
    </message>
    <message>
        <source>Code</source>
        <translation>コード</translation>
    </message>
    <message>
        <source>Make a new link</source>
        <translation>新しいリンクを作成</translation>
    </message>
    <message>
        <source>Close the link</source>
        <translation>リンクを無効にする</translation>
    </message>
    <message>
        <source>Points of the goal</source>
        <translation>目標のポイント</translation>
    </message>
    <message>
        <source>No goal</source>
        <translation>目標なし</translation>
    </message>
    <message>
        <source>Last day of the goal</source>
        <translation>目標の最終日</translation>
    </message>
    <message>
        <source>Set the goal</source>
        <translation>目標を設定</translation>
    </message>
    <message>
        <source>New name of the team</source>
        <translation>チームの新しい名前</translation>
    </message>
    <message>
        <source>Use this name</source>
        <translation>この名前を使う</translation>
    </message>
    <message>
        <source>Remove…</source>
        <translation>外す…</translation>
    </message>
    <message>
        <source>Hand over…</source>
        <translation>譲渡…</translation>
    </message>
    <message>
        <source>Open its page</source>
        <translation>チームのページを開く</translation>
    </message>
    <message>
        <source>Leave the team…</source>
        <translation>チームから離れる…</translation>
    </message>
    <message>
        <source>The organisers of the network withdrew the team's name. Choose another one.</source>
        <translation>ネットワークの主催者がチームの名前を取り消しました。別の名前を選んでください。</translation>
    </message>
    <message>
        <source>The same as a code, for people in this network:</source>
        <translation>このネットワークの人には、同じ内容のコードも使えます：</translation>
    </message>
    <message>
        <source>Goal: {reached} of {goal} points by {day}</source>
        <translation>目標：{day}までに{reached} / {goal}ポイント</translation>
    </message>
    <message>
        <source>Goal reached: {reached} of {goal} points by {day}</source>
        <translation>目標達成：{day}までに{reached} / {goal}ポイント</translation>
    </message>
    <message>
        <source>Everyone who has it can join until {day}. A new link ends this one.</source>
        <translation>リンクを持っている人は誰でも{day}まで参加できます。新しいリンクを作成すると、このリンクは無効になります。</translation>
    </message>
    <message>
        <source>The present link was made with another key or ended.</source>
        <translation>現在のリンクは別のキーで作成されたか、期限切れです。</translation>
    </message>
    <message>
        <source>Nobody can join at the moment.</source>
        <translation>現在は誰も参加できません。</translation>
    </message>
</context>
<context>
    <name>PeriodicQuestion</name>
    <message>
        <source>The worker does not answer</source>
        <translation>ワーカーが応答しません</translation>
    </message>
</context>
<context>
    <name>PointsExport</name>
    <message>
        <source>the worker does not answer</source>
        <translation>ワーカーが応答しません</translation>
    </message>
    <message>
        <source>{file} was not written: {why}. Choose another place, or try again.</source>
        <translation>{file}に書き込めませんでした：{why}。別の場所を選ぶか、もう一度お試しください。</translation>
    </message>
</context>
<context>
    <name>PointsPage</name>
    <message>
        <source>Share…</source>
        <translation>共有…</translation>
    </message>
    <message>
        <source>Export CSV</source>
        <translation>CSVに書き出す</translation>
    </message>
    <message>
        <source>Points</source>
        <translation>ポイント</translation>
    </message>
    <message>
        <source>Counted only when this computer has checked the proof in the ledger's log.</source>
        <translation>このコンピューターが台帳のログにある証明を確認したものだけを数えます。</translation>
    </message>
    <message>
        <source>Export all rounds</source>
        <translation>すべてのラウンドを書き出す</translation>
    </message>
    <message>
        <source>Comma-separated values (*.csv)</source>
        <translation>カンマ区切り値（*.csv）</translation>
    </message>
    <message>
        <source>Processor</source>
        <translation>プロセッサ</translation>
    </message>
    <message>
        <source>Your key has no public page yet: it gets one when it joins the network.</source>
        <translation>あなたのキーにはまだ公開ページがありません。ネットワークに参加すると作られます。</translation>
    </message>
    <message>
        <source>The ledger says that you have {points} more points. This computer has not read and checked their log entries yet, so they are not counted here. It does so automatically.</source>
        <translation>台帳によると、さらに{points}ポイントがあります。ログの該当エントリはまだここで読み込み・確認されていないため、数えていません。処理は自動的に進みます。</translation>
    </message>
    <message numerus="yes">
        <source>%Ln round(s) written to {file}</source>
        <translation>
            <numerusform>%Lnラウンドを{file}に書き出しました</numerusform>
        </translation>
    </message>
    <message>
        <source>Close</source>
        <translation>閉じる</translation>
    </message>
</context>
<context>
    <name>PointsRange</name>
    <message>
        <source>Verified points over time</source>
        <translation>検証済みポイントの推移</translation>
    </message>
    <message>
        <source>Time span</source>
        <translation>期間</translation>
    </message>
    <message>
        <source>24 h</source>
        <translation>24時間</translation>
    </message>
    <message>
        <source>7 days</source>
        <translation>7日間</translation>
    </message>
    <message>
        <source>30 days</source>
        <translation>30日</translation>
    </message>
    <message>
        <source>All</source>
        <translation>すべて</translation>
    </message>
    <message>
        <source>No points were verified in this time.</source>
        <translation>この期間に検証されたポイントはありません。</translation>
    </message>
    <message>
        <source>{total} points in this time</source>
        <translation>この期間に{total}ポイント</translation>
    </message>
    <message>
        <source>{summary}; most at {when}: {points}</source>
        <translation>{summary}。最多は{when}：{points}</translation>
    </message>
</context>
<context>
    <name>PointsSums</name>
    <message>
        <source>Verified</source>
        <translation>検証済み</translation>
    </message>
    <message>
        <source>Vesting</source>
        <translation>確定待ち</translation>
    </message>
    <message>
        <source>Pending</source>
        <translation>保留中</translation>
    </message>
    <message>
        <source>Rejected today</source>
        <translation>今日の不採用</translation>
    </message>
    <message>
        <source>{points} today</source>
        <translation>今日{points}</translation>
    </message>
    <message>
        <source>Rounds that are not proven yet</source>
        <translation>まだ証明されていないラウンド</translation>
    </message>
    <message>
        <source>Nothing pending</source>
        <translation>未処理なし</translation>
    </message>
    <message>
        <source>Rounds that gave nothing</source>
        <translation>成果のなかったラウンド</translation>
    </message>
    <message>
        <source>None today</source>
        <translation>今日はなし</translation>
    </message>
    <message>
        <source>{points} were forfeited</source>
        <translation>{points}は没収</translation>
    </message>
    <message>
        <source>Final after a few more rounds</source>
        <translation>数ラウンド後に確定</translation>
    </message>
    <message>
        <source>All points are final</source>
        <translation>すべて確定済み</translation>
    </message>
</context>
<context>
    <name>PresetPicker</name>
    <message>
        <source>Preset</source>
        <translation>プリセット</translation>
    </message>
    <message>
        <source>Gentle</source>
        <translation>控えめ</translation>
    </message>
    <message>
        <source>Starts after 15 min without input. Pauses for films, and when other programs use a quarter of the CPU.</source>
        <translation>15分間操作がないと開始します。動画の再生中や、ほかのプログラムがCPUの4分の1を使うと一時停止します。</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>バランス</translation>
    </message>
    <message>
        <source>Starts after 5 min without input. Continues during films; other programs may use half of the CPU.</source>
        <translation>5分間操作がないと開始します。動画の再生中も続けます。ほかのプログラムがCPUの半分まで使えます。</translation>
    </message>
    <message>
        <source>Max</source>
        <translation>最大</translation>
    </message>
    <message>
        <source>Starts after 1 min without input, and runs gently while you use the computer. Other programs may use three quarters of the CPU.</source>
        <translation>1分間操作がないと開始し、使用中も控えめに動作します。ほかのプログラムがCPUの4分の3まで使えます。</translation>
    </message>
    <message>
        <source>You have changed settings that presets cover. A preset changes only the settings named on its card.</source>
        <translation>プリセットに含まれる設定が変更されています。プリセットが変更するのは、カードに書かれた設定だけです。</translation>
    </message>
    <message>
        <source>Use Max</source>
        <translation>「最大」を使う</translation>
    </message>
    <message>
        <source>Preset: {preset}</source>
        <translation>プリセット：{preset}</translation>
    </message>
</context>
<context>
    <name>ProgramPicker</name>
    <message>
        <source>Choose a program</source>
        <translation>プログラムを選択</translation>
    </message>
    <message>
        <source>Name of the program</source>
        <translation>プログラムの名前</translation>
    </message>
    <message>
        <source>Search, or type a name such as blender</source>
        <translation>検索、または名前を入力（例：blender）</translation>
    </message>
    <message>
        <source>Programs running now</source>
        <translation>実行中のプログラム</translation>
    </message>
    <message>
        <source>Looking for programs…</source>
        <translation>プログラムを探しています…</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>追加</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>キャンセル</translation>
    </message>
    <message>
        <source>No running program has this name. Add uses it as you typed it.</source>
        <translation>この名前のプログラムは実行されていません。「追加」を押すと、入力した名前をそのまま使います。</translation>
    </message>
    <message>
        <source>Nothing is lent while it runs. Pick a running program, or type its name.</source>
        <translation>実行中は何も提供しません。実行中のプログラムを選ぶか、名前を入力してください。</translation>
    </message>
</context>
<context>
    <name>ProtectionDialog</name>
    <message>
        <source>How your key is kept</source>
        <translation>キーの保存方法</translation>
    </message>
    <message>
        <source>The key stays the same. Backups that you have made remain valid.</source>
        <translation>キーは変わりません。作成済みのバックアップも有効です。</translation>
    </message>
    <message>
        <source>Store it this way</source>
        <translation>この方法で保存</translation>
    </message>
</context>
<context>
    <name>ProtectionPanel</name>
    <message>
        <source>In this system's keyring</source>
        <translation>このシステムのキーリング</translation>
    </message>
    <message>
        <source>Unlocked automatically while you are logged in. The file alone is worth nothing.</source>
        <translation>ログイン中は自動的に解除されます。ファイルだけでは役に立ちません。</translation>
    </message>
    <message>
        <source>Under a passphrase</source>
        <translation>パスフレーズ</translation>
    </message>
    <message>
        <source>Tequio asks for it at each start, so it can't start lending automatically at login.</source>
        <translation>起動のたびに入力が必要なため、ログイン時に自動で提供を始められません。</translation>
    </message>
    <message>
        <source>In an unencrypted file</source>
        <translation>暗号化しないファイル</translation>
    </message>
    <message>
        <source>Only your user account can read it. For servers and computers that nobody else uses.</source>
        <translation>あなたのユーザーアカウントだけが読めます。サーバーや、ほかに誰も使わないコンピューター向けです。</translation>
    </message>
    <message>
        <source>Not encrypted: any program that you run can read the key and take your points, and so can anyone with a copy of this disk or of your files.</source>
        <translation>暗号化されません。実行するどのプログラムもキーを読んでポイントを奪うことができ、このディスクやファイルのコピーを持つ人も同様です。</translation>
    </message>
</context>
<context>
    <name>PublishedRow</name>
    <message>
        <source>Open</source>
        <translation>開く</translation>
    </message>
    <message>
        <source>Round {number}, on the Hugging Face Hub</source>
        <translation>ラウンド{number}（Hugging Face Hub）</translation>
    </message>
    <message>
        <source>Open round {number} of {repo} in the browser</source>
        <translation>{repo}のラウンド{number}をブラウザーで開く</translation>
    </message>
</context>
<context>
    <name>RaceChart</name>
    <message>
        <source>Round {number}</source>
        <translation>ラウンド{number}</translation>
    </message>
</context>
<context>
    <name>RankingCard</name>
    <message>
        <source>Around you</source>
        <translation>あなたの周辺</translation>
    </message>
    <message>
        <source>Ranking around you</source>
        <translation>あなたの周辺のランキング</translation>
    </message>
    <message>
        <source>Full ranking</source>
        <translation>全体のランキング</translation>
    </message>
    <message>
        <source>Not ranked yet</source>
        <translation>順位はまだありません</translation>
    </message>
    <message>
        <source>After your first verified round you see who has about as many points.</source>
        <translation>最初のラウンドが検証されると、ポイントの近い人が表示されます。</translation>
    </message>
    <message>
        <source>No ranking now</source>
        <translation>ランキングを表示できません</translation>
    </message>
    <message>
        <source>The network does not answer. Tequio keeps trying.</source>
        <translation>ネットワークが応答しません。Tequioは引き続き試行します。</translation>
    </message>
</context>
<context>
    <name>RankingRows</name>
    <message>
        <source>Volunteer</source>
        <translation>ボランティア</translation>
    </message>
    <message>
        <source>Points</source>
        <translation>ポイント</translation>
    </message>
    <message>
        <source>{name} (you)</source>
        <translation>{name}（あなた）</translation>
    </message>
    <message>
        <source>You</source>
        <translation>あなた</translation>
    </message>
</context>
<context>
    <name>ReachabilityChip</name>
    <message>
        <source>Yes</source>
        <translation>はい</translation>
    </message>
    <message>
        <source>No</source>
        <translation>いいえ</translation>
    </message>
    <message>
        <source>Not known yet</source>
        <translation>まだ不明</translation>
    </message>
</context>
<context>
    <name>Readings</name>
    <message>
        <source>Load</source>
        <translation>負荷</translation>
    </message>
    <message>
        <source>Other programs</source>
        <translation>ほかのプログラム</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>メモリ</translation>
    </message>
    <message>
        <source>VRAM</source>
        <translation>VRAM</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>温度</translation>
    </message>
    <message>
        <source>Power</source>
        <translation>電力</translation>
    </message>
</context>
<context>
    <name>ReadyStep</name>
    <message>
        <source>Ready</source>
        <translation>準備完了</translation>
    </message>
    <message>
        <source>Your choices apply once you press the button below.</source>
        <translation>選んだ内容は、下のボタンを押すと適用されます。</translation>
    </message>
    <message>
        <source>Contribute</source>
        <translation>提供を開始</translation>
    </message>
    <message>
        <source>What happens next</source>
        <translation>この後の流れ</translation>
    </message>
    <message>
        <source>Closing the window hides it; the tray icon shows the state, and pauses everything with two clicks.</source>
        <translation>ウィンドウを閉じると隠れます。パネルのアイコンが状態を示し、2回のクリックですべて一時停止できます。</translation>
    </message>
    <message>
        <source>Join and download</source>
        <translation>参加とダウンロード</translation>
    </message>
    <message>
        <source>Begin when you are away</source>
        <translation>離席中に開始</translation>
    </message>
    <message>
        <source>First points</source>
        <translation>最初のポイント</translation>
    </message>
    <message>
        <source>They are pending when your first round ends, and verified when the ledger has closed it and your computer has checked the proof, usually one round later.</source>
        <translation>最初のラウンドが終わると保留中になり、台帳がラウンドを締めて、このコンピューターが証明を確認すると検証済みになります。通常は1ラウンド後です。</translation>
    </message>
    <message>
        <source>Gentle</source>
        <translation>控えめ</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>バランス</translation>
    </message>
    <message>
        <source>Max</source>
        <translation>最大</translation>
    </message>
    <message>
        <source>Starts at login</source>
        <translation>ログイン時に起動</translation>
    </message>
    <message>
        <source>Starts by hand</source>
        <translation>手動で起動</translation>
    </message>
    <message>
        <source>Run: as chosen</source>
        <translation>学習プロジェクト：選択したもの</translation>
    </message>
    <message>
        <source>Run: automatic</source>
        <translation>学習プロジェクト：自動</translation>
    </message>
    <message>
        <source>No network yet</source>
        <translation>ネットワーク未選択</translation>
    </message>
    <message>
        <source>Key not backed up</source>
        <translation>キー未バックアップ</translation>
    </message>
    <message>
        <source>Tequio joins the run that you chose, and downloads its model and first data once.</source>
        <translation>選択した学習プロジェクトに参加し、モデルと最初のデータを一度だけダウンロードします。</translation>
    </message>
    <message>
        <source>Tequio joins the run that fits best, and downloads its model and first data once.</source>
        <translation>最も合う学習プロジェクトに参加し、モデルと最初のデータを一度だけダウンロードします。</translation>
    </message>
    <message>
        <source>{run}: {data} to download once, about {time} at 50 Mbit/s.</source>
        <translation>{run}：{data}を一度だけダウンロードします。50 Mbit/sの回線で約{time}です。</translation>
    </message>
    <message>
        <source>First it downloads what training needs, once: {size}, {disk} on the disk.</source>
        <translation>その前に、学習に必要なものを一度だけダウンロードします：{size}（ディスク{disk}）。</translation>
    </message>
    <message numerus="yes">
        <source>%n minute(s) after your last input. A key or the mouse stops it.</source>
        <translation>
            <numerusform>最後の操作の%n分後に開始します。キーやマウスの操作で停止します。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Immediately at {share} of the time, and fully %n minute(s) after your last input.</source>
        <translation>
            <numerusform>すぐに時間の{share}で動作し、最後の操作の%n分後から全力で動作します。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RecoveryControl</name>
    <message>
        <source>Make one…</source>
        <translation>作成…</translation>
    </message>
    <message>
        <source>Not known yet</source>
        <translation>まだ不明</translation>
    </message>
    <message>
        <source>Set</source>
        <translation>設定済み</translation>
    </message>
    <message>
        <source>Change it…</source>
        <translation>変更…</translation>
    </message>
    <message>
        <source>None yet</source>
        <translation>まだなし</translation>
    </message>
</context>
<context>
    <name>RecoveryDialog</name>
    <message>
        <source>Make a recovery key</source>
        <translation>回復キーを作成</translation>
    </message>
    <message>
        <source>If this computer is stolen or breaks, the recovery key stops its key and moves your points to a new one. Keep it away from this computer.</source>
        <translation>このコンピューターが盗まれたり壊れたりしたとき、回復キーでキーを停止し、ポイントを新しいキーに移せます。このコンピューターから離して保管してください。</translation>
    </message>
    <message>
        <source>Change the recovery key</source>
        <translation>回復キーを変更</translation>
    </message>
    <message>
        <source>Passphrase of the file</source>
        <translation>ファイルのパスフレーズ</translation>
    </message>
    <message>
        <source>The present recovery key</source>
        <translation>現在の回復キー</translation>
    </message>
    <message>
        <source>The new one</source>
        <translation>新しい回復キー</translation>
    </message>
    <message>
        <source>Store it as</source>
        <translation>保存形式</translation>
    </message>
    <message>
        <source>24 words</source>
        <translation>24語の単語</translation>
    </message>
    <message>
        <source>A file</source>
        <translation>ファイル</translation>
    </message>
    <message>
        <source>The file is sealed under a passphrase. Put it on a USB stick or another computer.</source>
        <translation>ファイルはパスフレーズで暗号化されます。USBメモリや別のコンピューターに保存してください。</translation>
    </message>
    <message>
        <source>Save the file…</source>
        <translation>ファイルを保存…</translation>
    </message>
    <message>
        <source>Show the words</source>
        <translation>単語を表示</translation>
    </message>
    <message>
        <source>I have written them down</source>
        <translation>書き写しました</translation>
    </message>
    <message>
        <source>Use this recovery key</source>
        <translation>この回復キーを使う</translation>
    </message>
    <message>
        <source>Save the recovery key</source>
        <translation>回復キーを保存</translation>
    </message>
</context>
<context>
    <name>ReleaseService</name>
    <message>
        <source>Try again</source>
        <translation>再試行</translation>
    </message>
    <message>
        <source>Version {version} is ready, and starts the next time Tequio starts.</source>
        <translation>バージョン{version}の準備ができました。次にTequioを起動したときに使われます。</translation>
    </message>
    <message>
        <source>Restart now</source>
        <translation>今すぐ再起動</translation>
    </message>
    <message>
        <source>Before this computer can train, it needs a download of {size}, which takes {disk} on the disk.</source>
        <translation>このコンピューターで学習するには、{size}のダウンロードが必要です（ディスク{disk}）。</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>ダウンロード</translation>
    </message>
    <message>
        <source>Testing what was downloaded…</source>
        <translation>ダウンロードしたものをテストしています…</translation>
    </message>
    <message>
        <source>Downloading what training needs</source>
        <translation>学習に必要なものをダウンロード中</translation>
    </message>
    <message>
        <source>Downloading version {version}</source>
        <translation>バージョン{version}をダウンロード中</translation>
    </message>
    <message>
        <source>{what}: {done} of {total}</source>
        <translation>{what}：{done} / {total}</translation>
    </message>
    <message>
        <source>The updater stopped unexpectedly.</source>
        <translation>更新プログラムが予期せず終了しました。</translation>
    </message>
    <message>
        <source>There is no newer version of Tequio yet.</source>
        <translation>Tequioの新しいバージョンはまだありません。</translation>
    </message>
</context>
<context>
    <name>ReplaceControl</name>
    <message>
        <source>Replace…</source>
        <translation>置き換える…</translation>
    </message>
</context>
<context>
    <name>ReplaceDialog</name>
    <message>
        <source>Replace this computer's key</source>
        <translation>このコンピューターのキーを置き換える</translation>
    </message>
    <message>
        <source>A new key takes over your points, standing, name and team. Do this if somebody else may have seen the key. It does not end a quarantine.</source>
        <translation>新しいキーがポイント、信用、名前、チームを引き継ぎます。キーを他人に見られた可能性がある場合に行ってください。隔離は解除されません。</translation>
    </message>
    <message>
        <source>Replace the key</source>
        <translation>キーを置き換える</translation>
    </message>
    <message>
        <source>Passphrase of the file</source>
        <translation>ファイルのパスフレーズ</translation>
    </message>
    <message>
        <source>Your recovery key</source>
        <translation>あなたの回復キー</translation>
    </message>
    <message>
        <source>I know that the present key can never be used again</source>
        <translation>現在のキーが二度と使えなくなることを理解しています</translation>
    </message>
    <message>
        <source>Afterwards, back up the new key: old backups become worthless.</source>
        <translation>終わったら新しいキーをバックアップしてください。古いバックアップは使えなくなります。</translation>
    </message>
</context>
<context>
    <name>ResetButton</name>
    <message>
        <source>Reset all settings</source>
        <translation>すべての設定をリセット</translation>
    </message>
    <message>
        <source>All settings have their defaults again.</source>
        <translation>すべての設定を既定値に戻しました。</translation>
    </message>
</context>
<context>
    <name>RestoreDialog</name>
    <message>
        <source>Restore a key</source>
        <translation>キーの復元</translation>
    </message>
    <message>
        <source>With your earlier key you are the same volunteer, with the same points. Use it on one computer at a time. A key that is here now is kept aside.</source>
        <translation>以前のキーを使うと、同じボランティアとして同じポイントを引き継げます。同時に使うのは1台だけにしてください。今ここにあるキーは別に保管されます。</translation>
    </message>
    <message>
        <source>Restore</source>
        <translation>復元</translation>
    </message>
    <message>
        <source>Passphrase of the backup</source>
        <translation>バックアップのパスフレーズ</translation>
    </message>
    <message>
        <source>How it is kept here</source>
        <translation>ここでの保存方法</translation>
    </message>
</context>
<context>
    <name>ResultCard</name>
    <message>
        <source>Result</source>
        <translation>結果</translation>
    </message>
    <message>
        <source>bits per byte and perplexity per byte, lower is better</source>
        <translation>1バイトあたりのビット数とパープレキシティ（小さいほど良い）</translation>
    </message>
    <message>
        <source>The dot is the score. If other texts of the same kind had been drawn, it would lie within the bar 95 times in 100. Entrants that cannot be told apart share a place.</source>
        <translation>点がスコアです。同じ種類の別のテキストが選ばれた場合、100回中95回は棒の範囲に入ります。優劣を区別できないエントリーは同順位です。</translation>
    </message>
    <message>
        <source>Check it yourself</source>
        <translation>自分で確認する</translation>
    </message>
    <message>
        <source>The command that checks it</source>
        <translation>確認用のコマンド</translation>
    </message>
    <message>
        <source>Not ranked: too few of the drawn evaluators scored the entrants.</source>
        <translation>順位なし：選ばれた評価者のうち、採点した人が少なすぎました。</translation>
    </message>
</context>
<context>
    <name>ResultTable</name>
    <message>
        <source>Places</source>
        <translation>順位</translation>
    </message>
    <message>
        <source>{name}: not ranked</source>
        <translation>{name}：順位なし</translation>
    </message>
    <message>
        <source>Place {rank}, {name}: {score} bits per byte, between {low} and {high}; perplexity {perplexity} per byte</source>
        <translation>{rank}位 {name}：1バイトあたり{score}ビット（{low}～{high}）、バイトあたりのパープレキシティ{perplexity}</translation>
    </message>
</context>
<context>
    <name>RoleCard</name>
    <message>
        <source>What this computer can do instead</source>
        <translation>このコンピューターにできること</translation>
    </message>
    <message>
        <source>Role</source>
        <translation>役割</translation>
    </message>
    <message>
        <source>Witness (fits best)</source>
        <translation>検証者（最適）</translation>
    </message>
    <message>
        <source>Train on the processor</source>
        <translation>プロセッサで学習</translation>
    </message>
    <message>
        <source>Slower than any graphics card, and for small models only. Earns a few points.</source>
        <translation>どのグラフィックスカードよりも遅く、小さなモデル専用です。少しポイントを獲得できます。</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>自動</translation>
    </message>
    <message>
        <source>Both: trains the model, and checks the work of others.</source>
        <translation>両方：モデルを学習し、ほかの人の作業を確認します。</translation>
    </message>
    <message>
        <source>Checks the work of others and signs what is correct. It trains nothing and uses little electricity.</source>
        <translation>ほかの人の作業を確認し、正しいものに署名します。学習はせず、電力もほとんど使いません。</translation>
    </message>
    <message>
        <source>Earns a small part of what training earns.</source>
        <translation>学習の獲得分のごく一部を獲得します。</translation>
    </message>
    <message>
        <source>All witnesses of a round share {percent} of what its trainers earn.</source>
        <translation>ラウンドの検証者全員で、トレーナーの獲得分の{percent}を分け合います。</translation>
    </message>
</context>
<context>
    <name>RoundCard</name>
    <message>
        <source>Round</source>
        <translation>ラウンド</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>学習プロジェクト</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>損失</translation>
    </message>
    <message>
        <source>Bits per byte</source>
        <translation>ビット/バイト</translation>
    </message>
    <message>
        <source>Perplexity</source>
        <translation>パープレキシティ</translation>
    </message>
    <message>
        <source>The model and its data are fetched once; then the first round begins.</source>
        <translation>モデルとデータを一度だけダウンロードし、その後に最初のラウンドが始まります。</translation>
    </message>
    <message>
        <source>Once this computer has joined a run, it trains round by round.</source>
        <translation>学習プロジェクトに参加すると、このコンピューターはラウンドごとに学習します。</translation>
    </message>
    <message>
        <source>Joining a run</source>
        <translation>学習プロジェクトに参加中</translation>
    </message>
    <message>
        <source>No round now</source>
        <translation>現在ラウンドはありません</translation>
    </message>
    <message>
        <source>of round</source>
        <translation>進行度</translation>
    </message>
    <message>
        <source>Trainer</source>
        <translation>トレーナー</translation>
    </message>
    <message>
        <source>Witness</source>
        <translation>検証者</translation>
    </message>
    <message>
        <source>No role yet</source>
        <translation>役割はまだありません</translation>
    </message>
    <message>
        <source>Auditor</source>
        <translation>監査者</translation>
    </message>
    <message>
        <source>Not taking part</source>
        <translation>不参加</translation>
    </message>
    <message>
        <source>Round {number} of {rounds}</source>
        <translation>ラウンド{number} / {rounds}</translation>
    </message>
    <message>
        <source>Round {number}</source>
        <translation>ラウンド{number}</translation>
    </message>
    <message numerus="yes">
        <source>%Ln peer(s)</source>
        <translation>
            <numerusform>ピア%Ln台</numerusform>
        </translation>
    </message>
    <message>
        <source>{time} left</source>
        <translation>残り{time}</translation>
    </message>
</context>
<context>
    <name>RoundDialog</name>
    <message>
        <source>{run}, round {number}</source>
        <translation>{run}、ラウンド{number}</translation>
    </message>
    <message>
        <source>Shared by others</source>
        <translation>ほかの人からの分</translation>
    </message>
    <message>
        <source>When</source>
        <translation>日時</translation>
    </message>
    <message>
        <source>Points</source>
        <translation>ポイント</translation>
    </message>
    <message>
        <source>For training</source>
        <translation>学習分</translation>
    </message>
    <message>
        <source>For checking others' work</source>
        <translation>検証分</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>デバイス</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>トークン</translation>
    </message>
    <message>
        <source>Energy</source>
        <translation>電力量</translation>
    </message>
    <message>
        <source>Ledger</source>
        <translation>台帳</translation>
    </message>
    <message>
        <source>Log entry</source>
        <translation>ログエントリ</translation>
    </message>
    <message>
        <source>Checkpoint, entries</source>
        <translation>チェックポイントのエントリ数</translation>
    </message>
    <message>
        <source>Checkpoint, root</source>
        <translation>チェックポイントのルート</translation>
    </message>
    <message>
        <source>What was checked here</source>
        <translation>ここで確認した内容</translation>
    </message>
    <message>
        <source>This computer fetched the end of the round from the ledger's public log, read in it what you get, and checked that it is in the log that the ledger has signed. Nobody can change or remove it later without that showing.</source>
        <translation>このコンピューターは、台帳の公開ログからラウンドの終了記録を取得し、獲得分を読み取り、それが台帳の署名したログに含まれることを確認しました。今後これを変更・削除すれば、必ず発覚します。</translation>
    </message>
    <message>
        <source>To check the whole ledger yourself, run:</source>
        <translation>台帳全体を自分で確認するには、次を実行します：</translation>
    </message>
    <message>
        <source>The command that checks it</source>
        <translation>確認用のコマンド</translation>
    </message>
    <message>
        <source>The round is not closed yet, or its end was not found in the ledger's signed log yet. Its points count when this computer has checked that.</source>
        <translation>ラウンドがまだ締められていないか、その終了記録が台帳の署名済みログにまだ見つかっていません。このコンピューターが確認すると、ポイントが数えられます。</translation>
    </message>
    <message>
        <source>This round gave no points, so there is nothing to prove.</source>
        <translation>このラウンドではポイントがなかったため、証明するものはありません。</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>コピー</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>閉じる</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>コピーしました</translation>
    </message>
</context>
<context>
    <name>RoundsCard</name>
    <message>
        <source>Run</source>
        <translation>学習プロジェクト</translation>
    </message>
    <message>
        <source>All runs</source>
        <translation>すべてのプロジェクト</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>デバイス</translation>
    </message>
    <message>
        <source>All devices</source>
        <translation>すべてのデバイス</translation>
    </message>
    <message>
        <source>Rounds</source>
        <translation>ラウンド</translation>
    </message>
    <message>
        <source>Looking</source>
        <translation>検索中</translation>
    </message>
    <message>
        <source>Reading the rounds of this key.</source>
        <translation>このキーのラウンドを読み込んでいます。</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>再試行</translation>
    </message>
    <message>
        <source>Older rounds are read as you scroll.</source>
        <translation>スクロールすると古いラウンドを読み込みます。</translation>
    </message>
    <message>
        <source>Couldn't load the rounds</source>
        <translation>ラウンドを読み込めませんでした</translation>
    </message>
    <message>
        <source>No round of that run was worked in on that device.</source>
        <translation>このデバイスで作業した、このプロジェクトのラウンドはありません。</translation>
    </message>
    <message>
        <source>No matches</source>
        <translation>該当なし</translation>
    </message>
    <message>
        <source>Each round that this computer takes part in will appear here, with what it gave and the proof.</source>
        <translation>このコンピューターが参加したラウンドが、獲得分と証明とともにここに表示されます。</translation>
    </message>
    <message>
        <source>No round yet</source>
        <translation>ラウンドはまだありません</translation>
    </message>
</context>
<context>
    <name>RoundsRows</name>
    <message>
        <source>Round</source>
        <translation>ラウンド</translation>
    </message>
    <message>
        <source>When</source>
        <translation>日時</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状態</translation>
    </message>
    <message>
        <source>Device, tokens</source>
        <translation>デバイス、トークン</translation>
    </message>
    <message>
        <source>Energy</source>
        <translation>電力量</translation>
    </message>
    <message>
        <source>Points</source>
        <translation>ポイント</translation>
    </message>
    <message>
        <source>Proof</source>
        <translation>証明</translation>
    </message>
    <message>
        <source>Round {number}</source>
        <translation>ラウンド{number}</translation>
    </message>
    <message>
        <source>{count} tokens</source>
        <translation>{count}トークン</translation>
    </message>
    <message>
        <source>{points} as witness</source>
        <translation>検証者として{points}</translation>
    </message>
    <message>
        <source>Proof checked by this computer: open to see what that means</source>
        <translation>証明はこのコンピューターで確認済み（開くと説明が表示されます）</translation>
    </message>
    <message>
        <source>No proof was checked yet</source>
        <translation>証明はまだ確認されていません</translation>
    </message>
</context>
<context>
    <name>RulesCard</name>
    <message>
        <source>Rules</source>
        <translation>ルール</translation>
    </message>
    <message>
        <source>What an entrant may use</source>
        <translation>エントリーが使えるもの</translation>
    </message>
    <message>
        <source>Texts that nobody has seen</source>
        <translation>誰も見たことのないテキスト</translation>
    </message>
    <message>
        <source>How it is scored</source>
        <translation>採点方法</translation>
    </message>
    <message>
        <source>Why it can be believed</source>
        <translation>信頼できる理由</translation>
    </message>
    <message>
        <source>Training data</source>
        <translation>学習データ</translation>
    </message>
    <message>
        <source>Rules about training data</source>
        <translation>学習データに関するルール</translation>
    </message>
    <message>
        <source>How many bits a model needs for each byte of the texts: fewer are better. Perplexity per byte is 2 to the power of these bits, and gives the same ranking. A model reads {window} tokens at a time, {stride} of them new. Entrants that cannot be told apart share a place.</source>
        <translation>テキスト1バイトを表すのに必要なビット数を測ります。少ないほど良い値です。バイトあたりのパープレキシティは2のこのビット数乗で、順位は同じです。モデルは一度に{window}トークンを読み、そのうち{stride}が新しいトークンです。優劣を区別できないエントリーは同順位です。</translation>
    </message>
    <message>
        <source>{evaluators} computers that are not involved in any entry are drawn by lot to score. For each text the median score counts, so one dishonest evaluator changes nothing, and everything is in the log.</source>
        <translation>どのエントリーにも関わらない{evaluators}台のコンピューターが抽選で採点します。各テキストは中央のスコアを採用するため、1台が偽っても結果は動きません。すべてログに記録されます。</translation>
    </message>
    <message>
        <source>What may be trained on is written at this address:</source>
        <translation>学習に使えるデータは、次のアドレスに書かれています：</translation>
    </message>
    <message>
        <source>These rules say nothing about what may be trained on.</source>
        <translation>学習に使えるデータについての決まりはありません。</translation>
    </message>
    <message>
        <source>A model has at most {count} parameters.</source>
        <translation>モデルのパラメーターは最大{count}個です。</translation>
    </message>
    <message>
        <source>Its run may train on {count} tokens.</source>
        <translation>その学習プロジェクトは最大{count}トークンを学習できます。</translation>
    </message>
    <message numerus="yes">
        <source>It has %n hour(s) from the opening of its run.</source>
        <translation>
            <numerusform>学習プロジェクトの開始から%n時間です。</numerusform>
        </translation>
    </message>
    <message>
        <source>Size, tokens and time have no limit.</source>
        <translation>制限なし：サイズ、トークン数、時間に上限はありません。</translation>
    </message>
    <message>
        <source>{texts} texts, {size}, were sealed before the competition was opened. Only after the deadline are {drawn} of them drawn by lot.</source>
        <translation>コンペの開始前に{texts}件のテキスト（{size}）が封印されました。締め切り後に、そのうち{drawn}件が抽選で選ばれます。</translation>
    </message>
    <message>
        <source>One person alone holds the key to them and has to be trusted.</source>
        <translation>封印を解くキーは1人だけが持っており、その人を信頼する必要があります。</translation>
    </message>
    <message>
        <source>The key to them is shared among {custodians} custodians; {needed} have to act together to open them.</source>
        <translation>封印を解くキーは{custodians}人の保管者が分けて持ち、開くには{needed}人が揃う必要があります。</translation>
    </message>
</context>
<context>
    <name>RunChat</name>
    <message>
        <source>Try the model</source>
        <translation>モデルを試す</translation>
    </message>
    <message>
        <source>Opens {address} in the browser. It is a service of the organisers: nothing that it writes is checked by the network.</source>
        <translation>{address} をブラウザーで開きます。主催者が運営するサービスで、生成される文章はネットワークでは検証されません。</translation>
    </message>
</context>
<context>
    <name>RunChoice</name>
    <message>
        <source>Rounds done</source>
        <translation>完了したラウンド</translation>
    </message>
    <message>
        <source>Yours</source>
        <translation>参加中</translation>
    </message>
    <message>
        <source>Ended</source>
        <translation>終了</translation>
    </message>
    <message>
        <source>Chosen</source>
        <translation>選択中</translation>
    </message>
    <message>
        <source>Full</source>
        <translation>満員</translation>
    </message>
    <message>
        <source>Round {number} of {rounds}</source>
        <translation>ラウンド{number} / {rounds}</translation>
    </message>
    <message>
        <source>Round {number}</source>
        <translation>ラウンド{number}</translation>
    </message>
    <message numerus="yes">
        <source>%Ln volunteer(s)</source>
        <translation>
            <numerusform>ボランティア%Ln人</numerusform>
        </translation>
    </message>
    <message>
        <source>{members} of {most} volunteers</source>
        <translation>ボランティア{members} / {most}人</translation>
    </message>
</context>
<context>
    <name>RunCode</name>
    <message>
        <source>This run brings its own code: {name} {version} ({hash}).</source>
        <translation>この学習プロジェクトには独自のコードが付属しています：{name} {version}（{hash}）。</translation>
    </message>
    <message>
        <source>You allowed it.</source>
        <translation>許可済みです。</translation>
    </message>
    <message>
        <source>It needs your consent before it trains here.</source>
        <translation>ここで学習する前に、あなたの同意が必要です。</translation>
    </message>
</context>
<context>
    <name>RunDetail</name>
    <message>
        <source>What joining means</source>
        <translation>参加すると</translation>
    </message>
    <message>
        <source>Join this run</source>
        <translation>この学習プロジェクトに参加</translation>
    </message>
    <message>
        <source>Stay on this run</source>
        <translation>このプロジェクトを続ける</translation>
    </message>
    <message>
        <source>What it needs</source>
        <translation>必要なもの</translation>
    </message>
    <message>
        <source>Choose for me</source>
        <translation>おまかせ</translation>
    </message>
    <message>
        <source>Tequio takes an open run that fits your device, your disk and the month's traffic; of several, the one with the most places free. When it ends, the next one is chosen the same way.</source>
        <translation>Tequioが、デバイス、ディスク、月間通信量に合う受付中のプロジェクトを選びます。複数ある場合は空きの最も多いものを選びます。終了すると、次も同じように選びます。</translation>
    </message>
    <message>
        <source>Tequio chooses for you</source>
        <translation>Tequioにおまかせ</translation>
    </message>
    <message>
        <source>This computer works for {run} now.</source>
        <translation>このコンピューターは現在{run}の作業をしています。</translation>
    </message>
    <message>
        <source>Chosen</source>
        <translation>選択中</translation>
    </message>
    <message>
        <source>Ended</source>
        <translation>終了</translation>
    </message>
    <message>
        <source>Take back my consent</source>
        <translation>同意を取り消す</translation>
    </message>
    <message>
        <source>Allow its code…</source>
        <translation>コードを許可…</translation>
    </message>
    <message>
        <source>This computer is in this run.</source>
        <translation>このコンピューターはこのプロジェクトに参加しています。</translation>
    </message>
    <message>
        <source>This run has ended. Its model and its log stay where they are.</source>
        <translation>この学習プロジェクトは終了しました。モデルとログは引き続き残ります。</translation>
    </message>
    <message>
        <source>All places are taken. If you join, you wait until one is free.</source>
        <translation>満員です。参加すると、空きが出るまで待ちます。</translation>
    </message>
    <message>
        <source>Open to everyone whose device fits.</source>
        <translation>条件に合うデバイスがあれば、誰でも参加できます。</translation>
    </message>
    <message>
        <source>Joining downloads {first} once. While training, it uploads about {up} and downloads about {down} per hour; less while paused.</source>
        <translation>参加時に{first}を一度だけダウンロードします。学習中は1時間に約{up}を送信、{down}を受信します。一時停止中は減ります。</translation>
    </message>
    <message>
        <source>After a day it uses about {disk} on the disk, or your storage limit.</source>
        <translation>1日後にはディスクを約{disk}、または保存容量の上限まで使います。</translation>
    </message>
    <message>
        <source>This computer would earn about {points} points a day.</source>
        <translation>このコンピューターは1日に約{points}ポイントを獲得できる見込みです。</translation>
    </message>
    <message>
        <source>The {left} left this month will not last for a day of lending.</source>
        <translation>今月の残り{left}では、1日分の提供に足りません。</translation>
    </message>
    <message numerus="yes">
        <source>The {left} left this month last for about %n day(s) of lending.</source>
        <translation>
            <numerusform>今月の残り{left}で、約%n日分提供できます。</numerusform>
        </translation>
    </message>
    <message>
        <source>Something here is less than this run needs, so this computer would wait. Raise a limit, or choose a run that fits.</source>
        <translation>必要な条件に足りないものがあるため、このコンピューターは待機になります。上限を引き上げるか、条件に合うプロジェクトを選んでください。</translation>
    </message>
    <message>
        <source>Your bandwidth limit is less than this run needs: some rounds may end without your work. Raise it in Settings, Network, or choose a run that fits.</source>
        <translation>通信速度の上限がこのプロジェクトの必要量より低いため、作業が間に合わないラウンドがあるかもしれません。「設定」の「ネットワーク」で引き上げるか、条件に合うプロジェクトを選んでください。</translation>
    </message>
    <message>
        <source>You chose this run. It stays chosen until you choose another.</source>
        <translation>このプロジェクトはあなたが選びました。別のものを選ぶまで続きます。</translation>
    </message>
    <message>
        <source>Tequio chose it for you, and may choose another when this one ends.</source>
        <translation>Tequioが選びました。終了すると別のものを選ぶことがあります。</translation>
    </message>
    <message>
        <source>Joining leaves the run that you are in now; your points stay yours.</source>
        <translation>参加すると、現在のプロジェクトから離れます。ポイントはそのまま残ります。</translation>
    </message>
    <message numerus="yes">
        <source>This run needs {needed} of memory, and this computer lends {most}. One computer with %n card(s) like this one could train it: start a worker there by {command}.</source>
        <translation>
            <numerusform>このプロジェクトには{needed}のメモリが必要で、このコンピューターが提供するのは{most}です。このようなグラフィックスカード%n枚を備えたコンピューター1台ならトレーニングできます。そこでワーカーを開始してください（{command}）。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>This run needs {needed} of memory, and this computer lends {most}. %n computer(s) like this one could train it together: open a cell with others in your network by {command}.</source>
        <translation>
            <numerusform>このプロジェクトには{needed}のメモリが必要で、このコンピューターが提供するのは{most}です。このようなコンピューター%n台なら一緒にトレーニングできます。同じネットワークの人とセルを開いてください（{command}）。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RunFigures</name>
    <message>
        <source>Parameters</source>
        <translation>パラメーター</translation>
    </message>
    <message>
        <source>Tokens trained</source>
        <translation>学習済みトークン</translation>
    </message>
    <message>
        <source>Round</source>
        <translation>ラウンド</translation>
    </message>
    <message>
        <source>Volunteers</source>
        <translation>ボランティア</translation>
    </message>
    <message>
        <source>{count} parameters</source>
        <translation>{count}パラメーター</translation>
    </message>
    <message>
        <source>{count} parameters; {trained} of them are adapters, and trained</source>
        <translation>{count}パラメーター（うち{trained}はアダプターで、学習対象）</translation>
    </message>
</context>
<context>
    <name>RunNeeds</name>
    <message>
        <source>Learns from: {source}</source>
        <translation>学習データ：{source}</translation>
    </message>
    <message>
        <source>Licence of the model: {licence}</source>
        <translation>モデルのライセンス：{licence}</translation>
    </message>
    <message>
        <source>Opened by: {keys}</source>
        <translation>開設者：{keys}</translation>
    </message>
    <message>
        <source>From the organisers: {text}</source>
        <translation>主催者より：{text}</translation>
    </message>
    <message>
        <source>Paused: {text}</source>
        <translation>一時停止中：{text}</translation>
    </message>
    <message>
        <source>Graphics memory</source>
        <translation>グラフィックスメモリ</translation>
    </message>
    <message>
        <source>No limit set</source>
        <translation>上限なし</translation>
    </message>
    <message>
        <source>Not known here</source>
        <translation>ここでは不明</translation>
    </message>
    <message>
        <source>of {most} on {device}</source>
        <translation>{device}の{most}のうち</translation>
    </message>
    <message>
        <source>Fits</source>
        <translation>適合</translation>
    </message>
    <message>
        <source>Just fits</source>
        <translation>ぎりぎり適合</translation>
    </message>
    <message>
        <source>Does not fit</source>
        <translation>不適合</translation>
    </message>
    <message>
        <source>Not known yet</source>
        <translation>まだ不明</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>メモリ</translation>
    </message>
    <message>
        <source>of {most} free</source>
        <translation>空き{most}のうち</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>ディスク</translation>
    </message>
    <message>
        <source>of {most} your limits allow</source>
        <translation>上限内の残り{most}のうち</translation>
    </message>
    <message>
        <source>First download</source>
        <translation>初回ダウンロード</translation>
    </message>
    <message>
        <source>of {most} left this month</source>
        <translation>今月の残り{most}のうち</translation>
    </message>
    <message>
        <source>Upload per hour</source>
        <translation>1時間の送信量</translation>
    </message>
    <message>
        <source>of {most} your limit allows</source>
        <translation>上限{most}のうち</translation>
    </message>
    <message>
        <source>Download per hour</source>
        <translation>1時間の受信量</translation>
    </message>
</context>
<context>
    <name>RunNewsCard</name>
    <message>
        <source>Choose the next run</source>
        <translation>次の学習プロジェクトを選ぶ</translation>
    </message>
    <message>
        <source>Chat with the model</source>
        <translation>モデルとチャット</translation>
    </message>
    <message>
        <source>See the run's page</source>
        <translation>学習プロジェクトのページを見る</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>閉じる</translation>
    </message>
    <message>
        <source>No other open run fits this computer now. Tequio keeps looking.</source>
        <translation>現在、このコンピューターに合う公開中の学習プロジェクトはほかにありません。Tequioは探し続けます。</translation>
    </message>
    <message>
        <source>Open runs that fit this computer: {names}.</source>
        <translation>このコンピューターに合う公開中の学習プロジェクト：{names}。</translation>
    </message>
</context>
<context>
    <name>RunNewsTexts</name>
    <message>
        <source>{run} went back to round {round}</source>
        <translation>{run}はラウンド{round}に戻りました</translation>
    </message>
    <message>
        <source>{run} is complete</source>
        <translation>{run}が完了しました</translation>
    </message>
    <message>
        <source>{run} has ended</source>
        <translation>{run}が終了しました</translation>
    </message>
    <message>
        <source>In this network you are #{rank} of {ranked}.</source>
        <translation>このネットワークでのあなたの順位は{ranked}人中{rank}位です。</translation>
    </message>
    <message>
        <source>Its organisers gave up the rounds after that one, and training goes on from there. Your points stay yours.</source>
        <translation>主催者がそれ以降のラウンドを破棄し、学習はそこから続きます。獲得したポイントはそのまま残ります。</translation>
    </message>
    <message>
        <source>It reached its last round, {round}.</source>
        <translation>最後のラウンド{round}に到達しました。</translation>
    </message>
    <message>
        <source>It ended after {round} of {rounds} rounds.</source>
        <translation>{rounds}ラウンド中{round}ラウンドで終了しました。</translation>
    </message>
    <message>
        <source>It ended after round {round}.</source>
        <translation>ラウンド{round}で終了しました。</translation>
    </message>
    <message>
        <source>Its model went from {first} to {last} bits per byte of unseen text, or from perplexity {before} to {after} per byte.</source>
        <translation>モデルは未知のテキストで1バイトあたり{first}ビットから{last}ビット、バイトあたりのパープレキシティでは{before}から{after}になりました。</translation>
    </message>
    <message>
        <source>You earned {points} points in it.</source>
        <translation>あなたは{points}ポイントを獲得しました。</translation>
    </message>
    <message numerus="yes">
        <source>You earned {points} points in %Ln accepted round(s).</source>
        <translation>
            <numerusform>承認された%Lnラウンドで{points}ポイントを獲得しました。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RunPublished</name>
    <message>
        <source>Published heads</source>
        <translation>公開済みモデル</translation>
    </message>
</context>
<context>
    <name>RunStep</name>
    <message>
        <source>What would you like to train?</source>
        <translation>何を学習しますか？</translation>
    </message>
    <message>
        <source>A run is one model that many train together. You can switch at any time.</source>
        <translation>学習プロジェクトは、大勢で一緒に学習する1つのモデルです。いつでも変更できます。</translation>
    </message>
    <message>
        <source>The network is not answering, so its runs cannot be listed. You can go on: Tequio keeps trying, and joins the run that fits this computer best.</source>
        <translation>ネットワークが応答しないため、学習プロジェクトを一覧表示できません。このまま進めます。Tequioは試行を続け、このコンピューターに最も合うものに参加します。</translation>
    </message>
    <message>
        <source>Recommended</source>
        <translation>おすすめ</translation>
    </message>
    <message>
        <source>The open run that fits this computer and needs it most.</source>
        <translation>このコンピューターに合い、最も必要としている受付中のプロジェクト。</translation>
    </message>
    <message>
        <source>Choose for me</source>
        <translation>おまかせ</translation>
    </message>
    <message>
        <source>Full</source>
        <translation>満員</translation>
    </message>
    <message numerus="yes">
        <source>%Ln volunteer(s)</source>
        <translation>
            <numerusform>ボランティア%Ln人</numerusform>
        </translation>
    </message>
    <message>
        <source>{memory} of memory</source>
        <translation>メモリ{memory}</translation>
    </message>
    <message>
        <source>{data} to download once</source>
        <translation>初回に{data}をダウンロード</translation>
    </message>
    <message>
        <source>{data} up per hour</source>
        <translation>1時間に{data}を送信</translation>
    </message>
    <message>
        <source>round {number} of {rounds}</source>
        <translation>ラウンド{number} / {rounds}</translation>
    </message>
</context>
<context>
    <name>RunWriting</name>
    <message>
        <source>What the model writes</source>
        <translation>モデルが書く文章</translation>
    </message>
    <message>
        <source>Held-out text</source>
        <translation>評価用テキスト</translation>
    </message>
    <message>
        <source>The model continues</source>
        <translation>モデルによる続き</translation>
    </message>
    <message>
        <source>After round {number}. Generated by the model; not anyone's opinion.</source>
        <translation>ラウンド{number}の後。モデルが生成したもので、誰かの意見ではありません。</translation>
    </message>
    <message>
        <source>Nothing: to the model the text ends there.</source>
        <translation>続きなし：モデルはここで文章が終わると判断しました。</translation>
    </message>
</context>
<context>
    <name>RunsPage</name>
    <message>
        <source>Runs</source>
        <translation>学習プロジェクト</translation>
    </message>
    <message>
        <source>Each run trains one model, round by round.</source>
        <translation>学習プロジェクトは、それぞれ1つのモデルをラウンドごとに学習します。</translation>
    </message>
    <message>
        <source>Runs to choose from</source>
        <translation>選べる学習プロジェクト</translation>
    </message>
    <message>
        <source>Join a network…</source>
        <translation>ネットワークに参加…</translation>
    </message>
    <message>
        <source>Each run trains one model, round by round. Updated {ago}.</source>
        <translation>学習プロジェクトは、それぞれ1つのモデルをラウンドごとに学習します。一覧の取得：{ago}。</translation>
    </message>
    <message>
        <source>The run that you chose is open, but its rules could not be read, so it is not in this list. Tequio keeps trying.</source>
        <translation>選んだ学習プロジェクトは受付中ですが、そのルールを読み込めなかったため、この一覧にはありません。Tequioは引き続き試行します。</translation>
    </message>
    <message>
        <source>The run that you chose is no longer open, so Tequio chooses for you.</source>
        <translation>選んだ学習プロジェクトは受付を終了したため、Tequioが代わりに選びます。</translation>
    </message>
    <message>
        <source>No run is open now. Tequio keeps looking and joins when one opens: there is nothing to do.</source>
        <translation>受付中の学習プロジェクトはありません。Tequioが探し続け、受付が始まると参加します。何もする必要はありません。</translation>
    </message>
    <message>
        <source>No network yet</source>
        <translation>ネットワーク未選択</translation>
    </message>
    <message>
        <source>Runs belong to a network. Choose one with Join a network.</source>
        <translation>学習プロジェクトはネットワークに属します。「ネットワークに参加」で選んでください。</translation>
    </message>
    <message>
        <source>The rules of the open runs could not be read. Tequio keeps trying.</source>
        <translation>受付中の学習プロジェクトのルールを読み込めませんでした。Tequioは引き続き試行します。</translation>
    </message>
    <message>
        <source>Couldn't load the runs</source>
        <translation>学習プロジェクトを読み込めませんでした</translation>
    </message>
    <message>
        <source>No run yet</source>
        <translation>学習プロジェクトはまだありません</translation>
    </message>
    <message>
        <source>{problem}. Tequio will keep trying.</source>
        <translation>{problem}。Tequioは引き続き試行します。</translation>
    </message>
    <message>
        <source>Asking the network which runs there are.</source>
        <translation>どの学習プロジェクトがあるかネットワークに問い合わせています。</translation>
    </message>
    <message>
        <source>Looking for runs</source>
        <translation>学習プロジェクトを探しています</translation>
    </message>
</context>
<context>
    <name>SamplePanel</name>
    <message>
        <source>Bits per byte</source>
        <translation>ビット/バイト</translation>
    </message>
    <message>
        <source>Perplexity</source>
        <translation>パープレキシティ</translation>
    </message>
    <message>
        <source>{name}: after round {number}</source>
        <translation>{name}：ラウンド{number}の後</translation>
    </message>
    <message>
        <source>Nothing: to the model the text ends there.</source>
        <translation>続きなし：モデルはここで文章が終わると判断しました。</translation>
    </message>
    <message>
        <source>Nobody reported what this round's model writes.</source>
        <translation>このラウンドのモデルが書く文章は報告されていません。</translation>
    </message>
    <message>
        <source>{task}: {percent} of answers right ({chance} by guessing)</source>
        <translation>{task}：正答率 {percent}（当て推量なら {chance}）</translation>
    </message>
    <message>
        <source>Worse than after round {number}</source>
        <translation>ラウンド{number}の後より悪い</translation>
    </message>
    <message>
        <source>Measured, not worse</source>
        <translation>測定済み、問題なし</translation>
    </message>
    <message>
        <source>Too few members agree on these figures so far</source>
        <translation>この数値で一致しているメンバーはまだ十分ではありません</translation>
    </message>
</context>
<context>
    <name>SamplesCard</name>
    <message>
        <source>What the model writes</source>
        <translation>モデルが書く文章</translation>
    </message>
    <message>
        <source>Earlier round</source>
        <translation>以前のラウンド</translation>
    </message>
    <message>
        <source>Beginning of a text that the model has never seen</source>
        <translation>モデルが見たことのない文章の書き出し</translation>
    </message>
    <message>
        <source>Earlier</source>
        <translation>以前</translation>
    </message>
    <message>
        <source>Newest</source>
        <translation>最新</translation>
    </message>
    <message>
        <source>Each measure continues another text, so these two differ.</source>
        <translation>測定ごとに別の文章の続きを書くため、この2つは異なります。</translation>
    </message>
    <message>
        <source>Bits per byte: how much of an unseen text the model cannot guess. Perplexity: roughly how many words it is choosing between. Lower is better for both. The texts are generated by the model; they are not anyone's opinion.</source>
        <translation>ビット/バイト：未知のテキストのうちモデルが予測できない量。パープレキシティ：いわば、いくつの単語の間で迷っているか。どちらも小さいほど良い値です。文章はモデルが生成したもので、誰かの意見ではありません。</translation>
    </message>
    <message>
        <source>The newest model, after round {number}, has not been measured yet. The chat uses it.</source>
        <translation>最新のモデル（ラウンド{number}の後）はまだ測定されていません。チャットはこれを使います。</translation>
    </message>
    <message>
        <source>Round {number}</source>
        <translation>ラウンド{number}</translation>
    </message>
</context>
<context>
    <name>ScheduleStep</name>
    <message>
        <source>When may Tequio use this computer?</source>
        <translation>Tequioはいつこのコンピューターを使えますか？</translation>
    </message>
    <message>
        <source>Unless you change this in Settings, it stops for games, on battery and on metered networks, and aims for at most 80 °C where the device reports its temperature.</source>
        <translation>設定で変更しない限り、ゲーム中、バッテリー駆動時、従量制ネットワークでは停止し、温度が分かるデバイスでは80 °C以下を目標にします。</translation>
    </message>
    <message>
        <source>When to lend</source>
        <translation>提供する条件</translation>
    </message>
    <message>
        <source>Gentle</source>
        <translation>控えめ</translation>
    </message>
    <message>
        <source>After 15 minutes without input. Films pause it too.</source>
        <translation>15分間操作がないと開始します。動画の再生中も一時停止します。</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>バランス</translation>
    </message>
    <message>
        <source>After 5 minutes without input. This suits most people.</source>
        <translation>5分間操作がないと開始します。ほとんどの人に適しています。</translation>
    </message>
    <message>
        <source>Max</source>
        <translation>最大</translation>
    </message>
    <message>
        <source>After 1 minute, and at 30% of the time while you use it.</source>
        <translation>1分後に開始し、使用中は時間の30%で動作します。</translation>
    </message>
    <message>
        <source>Start when I log in</source>
        <translation>ログイン時に起動</translation>
    </message>
    <message>
        <source>Starts minimised to the tray. Otherwise you have to start Tequio yourself.</source>
        <translation>トレイに最小化して起動します。オフの場合は、自分でTequioを起動する必要があります。</translation>
    </message>
</context>
<context>
    <name>SettingsPage</name>
    <message>
        <source>Sections</source>
        <translation>セクション</translation>
    </message>
    <message>
        <source>Search settings</source>
        <translation>設定を検索</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>検索</translation>
    </message>
    <message>
        <source>No results</source>
        <translation>結果なし</translation>
    </message>
    <message>
        <source>No setting mentions these words.</source>
        <translation>タイトルや説明にこの語を含む設定はありません。</translation>
    </message>
</context>
<context>
    <name>SetupButton</name>
    <message>
        <source>Open setup</source>
        <translation>セットアップを開く</translation>
    </message>
</context>
<context>
    <name>ShareDialog</name>
    <message>
        <source>Share</source>
        <translation>共有</translation>
    </message>
    <message>
        <source>Everyone can see this page. Chats and social networks show its picture beside the link.</source>
        <translation>このページは誰でも見られます。チャットやSNSでは、リンクの横にこのページの画像が表示されます。</translation>
    </message>
    <message>
        <source>Save the picture…</source>
        <translation>画像を保存…</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>閉じる</translation>
    </message>
    <message>
        <source>Your points</source>
        <translation>あなたのポイント</translation>
    </message>
    <message>
        <source>Your team</source>
        <translation>あなたのチーム</translation>
    </message>
    <message>
        <source>Your run</source>
        <translation>あなたの学習プロジェクト</translation>
    </message>
    <message>
        <source>Page</source>
        <translation>ページ</translation>
    </message>
    <message>
        <source>Link</source>
        <translation>リンク</translation>
    </message>
    <message>
        <source>Open the page</source>
        <translation>ページを開く</translation>
    </message>
    <message>
        <source>Save the picture</source>
        <translation>画像を保存</translation>
    </message>
    <message>
        <source>PNG picture (*.png)</source>
        <translation>PNG画像 (*.png)</translation>
    </message>
    <message>
        <source>The picture is in {file}.</source>
        <translation>画像を{file}に保存しました。</translation>
    </message>
</context>
<context>
    <name>SideBar</name>
    <message>
        <source>Join a network…</source>
        <translation>ネットワークに参加…</translation>
    </message>
</context>
<context>
    <name>SideRow</name>
    <message>
        <source>Submitted</source>
        <translation>提出モデル</translation>
    </message>
    <message>
        <source>You earned {points} points for it</source>
        <translation>ここで{points}ポイントを獲得しました</translation>
    </message>
    <message>
        <source>Yours</source>
        <translation>参加中</translation>
    </message>
    <message>
        <source>Chosen</source>
        <translation>選択中</translation>
    </message>
    <message>
        <source>Round {number} of {rounds}</source>
        <translation>ラウンド{number} / {rounds}</translation>
    </message>
    <message numerus="yes">
        <source>%Ln volunteer(s)</source>
        <translation>
            <numerusform>ボランティア%Ln人</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SidesCard</name>
    <message>
        <source>Entrants</source>
        <translation>エントリー</translation>
    </message>
    <message>
        <source>training loss by round</source>
        <translation>ラウンドごとの学習損失</translation>
    </message>
    <message>
        <source>Training loss of each entrant by round</source>
        <translation>各エントリーのラウンドごとの学習損失</translation>
    </message>
    <message>
        <source>As the trainers report it. The winner is decided on texts that nobody has seen.</source>
        <translation>トレーナーの報告値です。勝者は、誰も見たことのないテキストで決まります。</translation>
    </message>
    <message>
        <source>Entrants to choose from</source>
        <translation>選べるエントリー</translation>
    </message>
    <message>
        <source>Nobody has entered yet.</source>
        <translation>エントリーはまだありません。</translation>
    </message>
    <message>
        <source>Models that were trained elsewhere: {names}</source>
        <translation>別の場所で学習したモデル：{names}</translation>
    </message>
    <message>
        <source>{name}: {loss} in round {number}</source>
        <translation>{name}：ラウンド{number}で{loss}</translation>
    </message>
    <message>
        <source>No round has been closed yet. The curves begin with the first.</source>
        <translation>締められたラウンドはまだありません。曲線は最初のラウンドから始まります。</translation>
    </message>
    <message>
        <source>Couldn't load the curves: {problem}.</source>
        <translation>曲線を読み込めませんでした：{problem}。</translation>
    </message>
    <message>
        <source>Asking the network how the entrants are doing.</source>
        <translation>エントリーの進み具合を台帳に問い合わせています。</translation>
    </message>
</context>
<context>
    <name>SnoozeMenu</name>
    <message>
        <source>Snooze</source>
        <translation>スヌーズ</translation>
    </message>
    <message>
        <source>15 minutes</source>
        <translation>15分間</translation>
    </message>
    <message>
        <source>1 hour</source>
        <translation>1時間</translation>
    </message>
    <message>
        <source>Until tomorrow</source>
        <translation>明日まで</translation>
    </message>
    <message>
        <source>Until I close {game}</source>
        <translation>{game}を閉じるまで</translation>
    </message>
    <message>
        <source>Until I close this game</source>
        <translation>このゲームを閉じるまで</translation>
    </message>
</context>
<context>
    <name>StandingChip</name>
    <message>
        <source>Not known yet</source>
        <translation>まだ不明</translation>
    </message>
    <message>
        <source>Shown once this computer has joined the network.</source>
        <translation>このコンピューターがネットワークに参加すると表示されます。</translation>
    </message>
    <message>
        <source>Ended</source>
        <translation>終了</translation>
    </message>
    <message>
        <source>Log entry {entry} ended this key: it can do nothing more.</source>
        <translation>ログエントリ{entry}によりこのキーは終了しました。もう何もできません。</translation>
    </message>
    <message>
        <source>Excluded</source>
        <translation>除外</translation>
    </message>
    <message>
        <source>No round accepts your key now ({why}). Activity explains what you can do.</source>
        <translation>現在どのラウンドもあなたのキーを受け入れません（{why}）。できることは「アクティビティ」で確認できます。</translation>
    </message>
    <message>
        <source>New</source>
        <translation>新規</translation>
    </message>
    <message>
        <source>Ten accepted contributions make your key a full member.</source>
        <translation>更新データが10回受け入れられると、キーは正式なメンバーになります。</translation>
    </message>
    <message>
        <source>Good</source>
        <translation>良好</translation>
    </message>
    <message>
        <source>Changed</source>
        <translation>変更あり</translation>
    </message>
    <message>
        <source>Activity explains what has happened.</source>
        <translation>何が起きたかは「アクティビティ」で確認できます。</translation>
    </message>
</context>
<context>
    <name>StatCard</name>
    <message>
        <source>{points} points</source>
        <translation>{points}ポイント</translation>
    </message>
</context>
<context>
    <name>Stats</name>
    <message>
        <source>Points today</source>
        <translation>今日のポイント</translation>
    </message>
    <message>
        <source>Total points</source>
        <translation>合計ポイント</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>順位</translation>
    </message>
    <message>
        <source>Energy today</source>
        <translation>今日の電力量</translation>
    </message>
    <message numerus="yes">
        <source>%n round(s) pending</source>
        <translation>
            <numerusform>%nラウンド保留中</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing pending</source>
        <translation>保留なし</translation>
    </message>
    <message>
        <source>About {points} a day</source>
        <translation>1日に約{points}</translation>
    </message>
    <message>
        <source>{points} still to be checked</source>
        <translation>{points}は確認待ち</translation>
    </message>
    <message>
        <source>Every proof checked here</source>
        <translation>すべての証明を確認済み</translation>
    </message>
    <message>
        <source>None yet</source>
        <translation>まだなし</translation>
    </message>
    <message numerus="yes">
        <source>of %Ln volunteer(s)</source>
        <translation>
            <numerusform>ボランティア%Ln人中</numerusform>
        </translation>
    </message>
    <message>
        <source>After your first verified round</source>
        <translation>最初のラウンドの検証後</translation>
    </message>
    <message>
        <source>Not measured here</source>
        <translation>ここでは測定なし</translation>
    </message>
    <message>
        <source>{energy} in total</source>
        <translation>合計{energy}</translation>
    </message>
    <message>
        <source>Estimated, {total}</source>
        <translation>推定、合計{total}</translation>
    </message>
</context>
<context>
    <name>TeamControl</name>
    <message>
        <source>Join or found…</source>
        <translation>参加または作成…</translation>
    </message>
    <message>
        <source>Team {number}</source>
        <translation>チーム{number}</translation>
    </message>
    <message>
        <source>Open…</source>
        <translation>開く…</translation>
    </message>
</context>
<context>
    <name>TeamDialog</name>
    <message>
        <source>Look at the team</source>
        <translation>チームを見る</translation>
    </message>
    <message>
        <source>Found the team</source>
        <translation>チームを作成</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>閉じる</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>キャンセル</translation>
    </message>
    <message>
        <source>Team</source>
        <translation>チーム</translation>
    </message>
    <message>
        <source>What you earn in a team also counts for the team. What you earned for it stays with it when you leave.</source>
        <translation>チームで獲得したポイントは、チームのポイントにもなります。チームのために獲得したポイントは、離れてもチームに残ります。</translation>
    </message>
    <message>
        <source>Join the team “{team}”?</source>
        <translation>チーム「{team}」に参加しますか？</translation>
    </message>
    <message>
        <source>Its owner, {owner}, invites everyone who has this link.</source>
        <translation>オーナーの{owner}さんが、このリンクを持つすべての人を招待しています。</translation>
    </message>
    <message>
        <source>Join the team</source>
        <translation>チームに参加</translation>
    </message>
    <message numerus="yes">
        <source>%n member(s)</source>
        <translation>
            <numerusform>メンバー%n人</numerusform>
        </translation>
    </message>
    <message>
        <source>{points} points so far</source>
        <translation>これまでに{points}ポイント</translation>
    </message>
    <message>
        <source>Everyone can see that you are in the team, and what you earn for it.</source>
        <translation>チームに参加していることと、チームのために獲得したポイントは、誰でも見られます。</translation>
    </message>
    <message>
        <source>Your points stay yours. They also count for the team, from now on.</source>
        <translation>ポイントはあなたのままです。今後はチームのポイントにもなります。</translation>
    </message>
    <message>
        <source>The owner can remove you; you can leave at any time.</source>
        <translation>オーナーはあなたをチームから外せます。あなたはいつでもチームから離れられます。</translation>
    </message>
    <message>
        <source>You are in another team. Leave it before you join this one.</source>
        <translation>別のチームに参加しています。このチームに参加する前に、そのチームから離れてください。</translation>
    </message>
    <message>
        <source>You own this team.</source>
        <translation>あなたがこのチームのオーナーです。</translation>
    </message>
    <message>
        <source>Its owner is {owner}.</source>
        <translation>オーナーは{owner}さんです。</translation>
    </message>
    <message>
        <source>{points} points</source>
        <translation>{points}ポイント</translation>
    </message>
    <message>
        <source>What you earned for the team stays with it.</source>
        <translation>チームのために獲得したポイントは、チームに残ります。</translation>
    </message>
    <message>
        <source>The member that joined first becomes its owner.</source>
        <translation>最も早く参加したメンバーがオーナーになります。</translation>
    </message>
    <message>
        <source>You are its last member: the team ends for good.</source>
        <translation>あなたが最後のメンバーです。チームは完全に終了します。</translation>
    </message>
    <message>
        <source>Leave the team?</source>
        <translation>チームから離れますか？</translation>
    </message>
    <message>
        <source>Leave the team</source>
        <translation>チームから離れる</translation>
    </message>
    <message>
        <source>Hand the team over to {name}?</source>
        <translation>チームを{name}さんに譲渡しますか？</translation>
    </message>
    <message>
        <source>You stay a member, and cannot take the team back.</source>
        <translation>あなたはメンバーとして残りますが、チームを取り戻すことはできません。</translation>
    </message>
    <message>
        <source>Hand over</source>
        <translation>譲渡</translation>
    </message>
    <message>
        <source>Remove {name} from the team?</source>
        <translation>{name}さんをチームから外しますか？</translation>
    </message>
    <message>
        <source>The join link stops working, as {name} has it. Points stay.</source>
        <translation>{name}さんが持っているため、参加リンクは無効になります。ポイントは残ります。</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>外す</translation>
    </message>
    <message>
        <source>Team {number}</source>
        <translation>チーム{number}</translation>
    </message>
</context>
<context>
    <name>TimelineCard</name>
    <message>
        <source>Events to show</source>
        <translation>表示するイベント</translation>
    </message>
    <message>
        <source>All</source>
        <translation>すべて</translation>
    </message>
    <message>
        <source>Rounds</source>
        <translation>ラウンド</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>要対応</translation>
    </message>
    <message>
        <source>Search in events</source>
        <translation>イベントを検索</translation>
    </message>
    <message>
        <source>Events</source>
        <translation>イベント</translation>
    </message>
    <message>
        <source>Looking</source>
        <translation>検索中</translation>
    </message>
    <message>
        <source>Reading recent events.</source>
        <translation>最近の出来事を読み込んでいます。</translation>
    </message>
    <message>
        <source>Couldn't load the events</source>
        <translation>イベントを読み込めませんでした</translation>
    </message>
    <message>
        <source>Older events are being read.</source>
        <translation>古いイベントを読み込んでいます。</translation>
    </message>
    <message>
        <source>No matches</source>
        <translation>該当なし</translation>
    </message>
    <message>
        <source>No event fits the filter and the search.</source>
        <translation>フィルターと検索に一致するイベントはありません。</translation>
    </message>
    <message>
        <source>Nothing happened yet</source>
        <translation>まだ何も起きていません</translation>
    </message>
    <message>
        <source>What this computer does for the swarm will be listed here.</source>
        <translation>このコンピューターがネットワークのために行ったことが、文章でここに表示されます。</translation>
    </message>
</context>
<context>
    <name>Tray</name>
    <message>
        <source>Join a network…</source>
        <translation>ネットワークに参加…</translation>
    </message>
    <message>
        <source>Open Tequio</source>
        <translation>Tequioを開く</translation>
    </message>
    <message>
        <source>Quit – stops lending</source>
        <translation>終了 – 提供を停止します</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>終了</translation>
    </message>
    <message>
        <source>Contribute</source>
        <translation>提供を開始</translation>
    </message>
    <message>
        <source>Set up …</source>
        <translation>セットアップ…</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>一時停止</translation>
    </message>
    <message>
        <source>Resume now</source>
        <translation>今すぐ再開</translation>
    </message>
    <message>
        <source>Go on after this round</source>
        <translation>このラウンドの後も続ける</translation>
    </message>
    <message>
        <source>Finish round, then stop</source>
        <translation>ラウンド終了後に停止</translation>
    </message>
</context>
<context>
    <name>UndoToast</name>
    <message>
        <source>Undo</source>
        <translation>元に戻す</translation>
    </message>
</context>
<context>
    <name>UnlockDialog</name>
    <message>
        <source>Your key is sealed</source>
        <translation>キーは暗号化されています</translation>
    </message>
    <message>
        <source>Nothing is lent before you give its passphrase. It is kept until you quit.</source>
        <translation>パスフレーズを入力するまで何も提供しません。終了するまで記憶されます。</translation>
    </message>
    <message>
        <source>Unlock</source>
        <translation>ロック解除</translation>
    </message>
    <message>
        <source>Passphrase</source>
        <translation>パスフレーズ</translation>
    </message>
</context>
<context>
    <name>UsageMeters</name>
    <message>
        <source>VRAM</source>
        <translation>VRAM</translation>
    </message>
    <message>
        <source>Upload</source>
        <translation>送信</translation>
    </message>
    <message>
        <source>Traffic</source>
        <translation>通信量</translation>
    </message>
    <message>
        <source>Downloaded and uploaded this month, of your monthly limit</source>
        <translation>今月のダウンロードとアップロード（月間上限に対して）</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>ディスク</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>メモリ</translation>
    </message>
    <message>
        <source>{used} of {most}</source>
        <translation>{used} / {most}</translation>
    </message>
</context>
<context>
    <name>UsedQuestion</name>
    <message>
        <source>While you use the computer, the device will be busy for {share} of the time. It gets louder and uses more power, and videos or scrolling may stutter. The rules for games and films still apply.</source>
        <translation>使用中も、デバイスは時間の{share}だけ動作します。音が大きくなり、消費電力が増え、動画やスクロールが途切れることがあります。ゲームと動画のルールは引き続き適用されます。</translation>
    </message>
</context>
<context>
    <name>UsedSwitch</name>
    <message>
        <source>Lend while I use the computer</source>
        <translation>使用中も提供する</translation>
    </message>
</context>
<context>
    <name>WeekEditor</name>
    <message>
        <source>Hours in which to lend</source>
        <translation>提供する時間帯</translation>
    </message>
    <message>
        <source>Hours</source>
        <translation>時間帯</translation>
    </message>
    <message>
        <source>Always</source>
        <translation>常時</translation>
    </message>
    <message>
        <source>Nights</source>
        <translation>夜間</translation>
    </message>
    <message>
        <source>Outside office hours</source>
        <translation>勤務時間外</translation>
    </message>
    <message>
        <source>Custom</source>
        <translation>カスタム</translation>
    </message>
    <message>
        <source>No hour is selected, so nothing is ever lent.</source>
        <translation>時間帯が選ばれていないため、提供されることはありません。</translation>
    </message>
    <message>
        <source>Hours changed.</source>
        <translation>時間帯を変更しました。</translation>
    </message>
</context>
<context>
    <name>WeekGrid</name>
    <message>
        <source>may lend</source>
        <translation>提供可</translation>
    </message>
    <message>
        <source>does not lend</source>
        <translation>提供しない</translation>
    </message>
</context>
<context>
    <name>WelcomeStep</name>
    <message>
        <source>Lend your idle computer to open models</source>
        <translation>空いているコンピューターをオープンモデルのために</translation>
    </message>
    <message>
        <source>Tequio trains open language models on the computers of volunteers, while nobody needs them. Nothing is lent before you agree to it at the end.</source>
        <translation>Tequioは、ボランティアのコンピューターの空き時間を使って、オープンな言語モデルを学習します。最後に同意するまで、何も提供されません。</translation>
    </message>
    <message>
        <source>Stops when you play</source>
        <translation>ゲーム中は停止</translation>
    </message>
    <message>
        <source>Starting a game or going full screen stops it within seconds and frees all GPU memory.</source>
        <translation>ゲームの起動や全画面表示になると、数秒で停止し、GPUメモリをすべて解放します。</translation>
    </message>
    <message>
        <source>Points you can check</source>
        <translation>確かめられるポイント</translation>
    </message>
    <message>
        <source>Each round gives compute points. Your computer checks every proof.</source>
        <translation>ラウンドごとに計算ポイントを獲得します。すべての証明をあなたのコンピューターが確認します。</translation>
    </message>
    <message>
        <source>Keeps to itself</source>
        <translation>プライバシーを守る</translation>
    </message>
    <message>
        <source>It reads none of your files. Settings lists all that it sends.</source>
        <translation>あなたのファイルは読みません。送信する内容は、すべて設定で確認できます。</translation>
    </message>
</context>
<context>
    <name>WordsGrid</name>
    <message>
        <source>The 24 words</source>
        <translation>24語の単語</translation>
    </message>
    <message>
        <source>24 words, hidden</source>
        <translation>24語の単語（非表示）</translation>
    </message>
</context>
<context>
    <name>WorkerLogCard</name>
    <message>
        <source>Log of the worker</source>
        <translation>ワーカーのログ</translation>
    </message>
    <message>
        <source>For troubleshooting. Copying adds what the app sees, but no key and no password.</source>
        <translation>不具合の調査用です。コピーにはアプリから見える情報が加わります。キーやパスワードは含まれません。</translation>
    </message>
    <message>
        <source>Last lines of the log</source>
        <translation>ログの末尾</translation>
    </message>
    <message>
        <source>The worker has not logged anything yet.</source>
        <translation>ワーカーの出力はまだありません。</translation>
    </message>
    <message>
        <source>Copy diagnostics</source>
        <translation>診断情報をコピー</translation>
    </message>
    <message>
        <source>Diagnostics copied: paste them into your report</source>
        <translation>診断情報をコピーしました。レポートに貼り付けてください</translation>
    </message>
</context>
<context>
    <name>WorkerProcess</name>
    <message>
        <source>The worker is not running.</source>
        <translation>ワーカーが動作していません。</translation>
    </message>
    <message>
        <source>The worker has ended.</source>
        <translation>ワーカーが終了しました。</translation>
    </message>
    <message>
        <source>The worker failed {tries} times in a row, the last time so: {why}</source>
        <translation>ワーカーが{tries}回続けて失敗しました。最後の原因：{why}</translation>
    </message>
    <message>
        <source>{why} It is started again.</source>
        <translation>{why}再起動しています。</translation>
    </message>
</context>
<context>
    <name>checks</name>
    <message>
        <source>Graphics card</source>
        <translation>グラフィックスカード</translation>
    </message>
    <message>
        <source>Driver</source>
        <translation>ドライバー</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>ディスク</translation>
    </message>
    <message>
        <source>Network</source>
        <translation>ネットワーク</translation>
    </message>
    <message>
        <source>Looking…</source>
        <translation>確認しています…</translation>
    </message>
    <message>
        <source>Its probe has not answered. Tequio keeps asking; you can go on.</source>
        <translation>検出がまだ応答していません。Tequioが確認を続けるので、先に進めます。</translation>
    </message>
    <message>
        <source>None that can train was found. {processor} with {cores} cores can help too.</source>
        <translation>学習できるカードが見つかりません。{processor}（{cores}コア）でも協力できます。</translation>
    </message>
    <message>
        <source>{card} does not say how much memory it has.</source>
        <translation>{card}はメモリ容量を報告していません。</translation>
    </message>
    <message>
        <source>{card} has {memory}: too little to train most models.</source>
        <translation>{card}のメモリは{memory}です。ほとんどのモデルの学習には足りません。</translation>
    </message>
    <message>
        <source>{card} with {memory}, of which at most {usable} are used.</source>
        <translation>{card}、{memory}（最大{usable}を使用）。</translation>
    </message>
    <message>
        <source>Its probe has not answered yet.</source>
        <translation>検出がまだ応答していません。</translation>
    </message>
    <message>
        <source>None is needed for the processor.</source>
        <translation>プロセッサには不要です。</translation>
    </message>
    <message>
        <source>It does not say its version. The first start will show it.</source>
        <translation>バージョンを報告していません。最初の起動時にわかります。</translation>
    </message>
    <message>
        <source>Version {driver} is too old to train: install {oldest} or newer, then restart.</source>
        <translation>バージョン{driver}は古すぎて学習できません。{oldest}以降をインストールして、再起動してください。</translation>
    </message>
    <message>
        <source>Version {driver} can train.</source>
        <translation>バージョン{driver}で学習できます。</translation>
    </message>
    <message>
        <source>It is not known how much is free.</source>
        <translation>空き容量がわかりません。</translation>
    </message>
    <message>
        <source>{free} GB are free. Tequio takes {store} GB at most, and {stays} stay free.</source>
        <translation>空きは{free} GBです。Tequioは最大{store} GBを使い、{stays} GBは残します。</translation>
    </message>
    <message>
        <source>{free} GB are free. {stays} stay free, so Tequio has {store} GB: some runs fit.</source>
        <translation>空きは{free} GBです。{stays} GBを残すので、Tequioは{store} GBを使えます。一部のプロジェクトに合います。</translation>
    </message>
    <message>
        <source>Only {free} GB are free and {wanted} are needed, of which {stays} stay free: make room before lending.</source>
        <translation>空きは{free} GBだけですが、{wanted} GB必要です（うち{stays} GBは空けたままにします）。提供する前に空きを増やしてください。</translation>
    </message>
    <message>
        <source>You choose the network in step 5.</source>
        <translation>ネットワークはステップ5で選びます。</translation>
    </message>
    <message>
        <source>You join “{network}” by your invitation.</source>
        <translation>招待により「{network}」に参加します。</translation>
    </message>
    <message>
        <source>The network does not answer now. You can go on: Tequio keeps trying.</source>
        <translation>現在ネットワークが応答しません。先に進めます。Tequioは引き続き試行します。</translation>
    </message>
    <message>
        <source>The network answers. No run is open now; one will be joined.</source>
        <translation>ネットワークが応答しました。受付中の学習プロジェクトはありません。始まると参加します。</translation>
    </message>
    <message numerus="yes">
        <source>The network answers, and %n run(s) are open.</source>
        <translation>
            <numerusform>ネットワークが応答しました。受付中の学習プロジェクトは%n件です。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>competitions</name>
    <message>
        <source>Announced</source>
        <translation>予告</translation>
    </message>
    <message>
        <source>Under way</source>
        <translation>開催中</translation>
    </message>
    <message>
        <source>Deadline over</source>
        <translation>締め切り</translation>
    </message>
    <message>
        <source>Closed</source>
        <translation>提出終了</translation>
    </message>
    <message>
        <source>Being opened</source>
        <translation>開封中</translation>
    </message>
    <message>
        <source>Being scored</source>
        <translation>採点中</translation>
    </message>
    <message>
        <source>Being checked</source>
        <translation>確認中</translation>
    </message>
    <message>
        <source>Decided</source>
        <translation>結果確定</translation>
    </message>
    <message>
        <source>No ranking</source>
        <translation>順位なし</translation>
    </message>
    <message>
        <source>It has not begun yet. Join an entrant's run now to train from the start.</source>
        <translation>まだ始まっていません。今参加すると、最初から学習に加われます。</translation>
    </message>
    <message>
        <source>The entrants are training. The last submission of each before the deadline counts.</source>
        <translation>各エントリーが学習しています。締め切り前に最後に提出されたものが対象です。</translation>
    </message>
    <message>
        <source>The deadline is over. The ledger closes the competition any moment.</source>
        <translation>締め切りを過ぎました。まもなく台帳がコンペを締めます。</translation>
    </message>
    <message>
        <source>Nothing can be submitted any more. Every volunteer evaluator draws a lot, which nobody can choose. The lots decide who scores, and on which texts.</source>
        <translation>もう提出できません。ボランティアの評価者がそれぞれ、自分では選べないくじを引きます。くじによって、採点者と使用するテキストが決まります。</translation>
    </message>
    <message>
        <source>The custodians reveal their parts of the key. Any {needed} of the {custodians} parts open the texts.</source>
        <translation>保管者がキーの自分の分を提示しています。{custodians}個のうち{needed}個でテキストが開きます。</translation>
    </message>
    <message>
        <source>The texts are open. Evaluators, drawn by lot, score each entrant on them, and commit to their scores before anyone reveals any.</source>
        <translation>テキストが開かれました。抽選で選ばれた評価者が各エントリーを採点し、誰かが公開する前に自分の採点を確定します。</translation>
    </message>
    <message>
        <source>Evaluators reveal the scores that they committed to. Until the result, anyone may score a model again and challenge a score.</source>
        <translation>評価者が、確定した採点を公開しています。結果が出るまで、誰でも採点し直して異議を唱えられます。</translation>
    </message>
    <message>
        <source>The result stands, and anyone can check it from the log alone.</source>
        <translation>結果が確定しました。誰でもログだけで確認できます。</translation>
    </message>
    <message>
        <source>It ended without a ranking: too few custodians revealed their parts of the key in time, or there was nobody to score.</source>
        <translation>順位なしで終了しました。時間内にキーの分を提示した保管者が少なすぎたか、採点する人がいませんでした。</translation>
    </message>
    <message>
        <source>It ended without a ranking: too few of those who were drawn scored the entrants in time.</source>
        <translation>順位なしで終了しました。抽選で選ばれた人のうち、時間内に採点した人が少なすぎました。</translation>
    </message>
    <message>
        <source>until it begins</source>
        <translation>開始まで</translation>
    </message>
    <message>
        <source>until the deadline</source>
        <translation>締め切りまで</translation>
    </message>
    <message>
        <source>until the draw</source>
        <translation>抽選まで</translation>
    </message>
    <message>
        <source>until all must be scored</source>
        <translation>採点期限まで</translation>
    </message>
    <message>
        <source>until the result</source>
        <translation>結果まで</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>開始</translation>
    </message>
    <message>
        <source>Deadline</source>
        <translation>締め切り</translation>
    </message>
    <message>
        <source>Draw</source>
        <translation>抽選</translation>
    </message>
    <message>
        <source>Scores</source>
        <translation>採点</translation>
    </message>
    <message>
        <source>Result</source>
        <translation>結果</translation>
    </message>
</context>
<context>
    <name>figures</name>
    <message>
        <source>{used} of {most}</source>
        <translation>{used} / {most}</translation>
    </message>
    <message>
        <source>about what an {card} does in {time}</source>
        <translation>{card}で約{time}分の作業に相当</translation>
    </message>
    <message>
        <source>about {time} on an {card}</source>
        <translation>{card}で約{time}分</translation>
    </message>
    <message>
        <source>{n} s</source>
        <translation>{n}秒</translation>
    </message>
    <message>
        <source>{n} min</source>
        <translation>{n}分</translation>
    </message>
    <message>
        <source>{n} h</source>
        <translation>{n}時間</translation>
    </message>
    <message>
        <source>{n} days</source>
        <translation>{n}日</translation>
    </message>
    <message>
        <source>{number}%</source>
        <translation>{number}%</translation>
    </message>
    <message numerus="yes">
        <source>%n byte(s)</source>
        <translation>
            <numerusform>%nバイト</numerusform>
        </translation>
    </message>
    <message>
        <source>{rate} Mbit/s</source>
        <translation>{rate} Mbit/s</translation>
    </message>
    <message>
        <source>{days} d {hours} h</source>
        <translation>{days}日{hours}時間</translation>
    </message>
    <message>
        <source>{hours} h {minutes} min</source>
        <translation>{hours}時間{minutes}分</translation>
    </message>
    <message>
        <source>{minutes} min</source>
        <translation>{minutes}分</translation>
    </message>
    <message>
        <source>{seconds} s</source>
        <translation>{seconds}秒</translation>
    </message>
    <message>
        <source>{energy} kWh</source>
        <translation>{energy} kWh</translation>
    </message>
    <message>
        <source>{energy} Wh</source>
        <translation>{energy} Wh</translation>
    </message>
    <message>
        <source>{degrees} °C</source>
        <translation>{degrees} °C</translation>
    </message>
    <message>
        <source>{watts} W</source>
        <translation>{watts} W</translation>
    </message>
    <message>
        <source>{day} {month}</source>
        <translation>{month}{day}日</translation>
    </message>
    <message>
        <source>tomorrow {time}</source>
        <translation>明日 {time}</translation>
    </message>
    <message>
        <source>{weekday} {day} {month} {year}, {time}</source>
        <translation>{year}年{month}{day}日（{weekday}） {time}</translation>
    </message>
    <message>
        <source>just now</source>
        <translation>たった今</translation>
    </message>
    <message>
        <source>{time} ago</source>
        <translation>{time}前</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>今日</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>昨日</translation>
    </message>
    <message>
        <source>{weekday} {day} {month}</source>
        <translation>{month}{day}日 {weekday}</translation>
    </message>
    <message>
        <source>{weekday} {day} {month} {year}</source>
        <translation>{year}年{month}{day}日 {weekday}</translation>
    </message>
    <message>
        <source>{number}T</source>
        <translation>{number}T</translation>
    </message>
    <message>
        <source>{number}B</source>
        <translation>{number}B</translation>
    </message>
    <message>
        <source>{number}M</source>
        <translation>{number}M</translation>
    </message>
    <message>
        <source>{number}k</source>
        <translation>{number}k</translation>
    </message>
</context>
<context>
    <name>headline</name>
    <message>
        <source>Starting</source>
        <translation>開始中</translation>
    </message>
    <message>
        <source>The worker is being started.</source>
        <translation>ワーカーを起動しています。</translation>
    </message>
    <message>
        <source>Pausing…</source>
        <translation>一時停止しています…</translation>
    </message>
    <message>
        <source>The device is given back at once.</source>
        <translation>デバイスをすぐに解放します。</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>開始しています…</translation>
    </message>
    <message>
        <source>Checking whether it's OK to start…</source>
        <translation>開始してよいか確認しています…</translation>
    </message>
    <message>
        <source>No connection</source>
        <translation>接続なし</translation>
    </message>
    <message>
        <source>Neither the network's ledger nor another computer answers. Tequio keeps trying; work that has begun goes on.</source>
        <translation>ネットワークの台帳も、ほかのコンピューターも応答しません。Tequioは引き続き試行し、始めた作業は続けます。</translation>
    </message>
</context>
<context>
    <name>health</name>
    <message>
        <source>Time without input</source>
        <translation>操作のない時間</translation>
    </message>
    <message>
        <source>Screen lock</source>
        <translation>画面ロック</translation>
    </message>
    <message>
        <source>Other users</source>
        <translation>ほかのユーザー</translation>
    </message>
    <message>
        <source>Fullscreen programs</source>
        <translation>全画面のプログラム</translation>
    </message>
    <message>
        <source>Game mode</source>
        <translation>ゲームモード</translation>
    </message>
    <message>
        <source>Programs that run</source>
        <translation>実行中のプログラム</translation>
    </message>
    <message>
        <source>Metered network</source>
        <translation>従量制ネットワーク</translation>
    </message>
    <message>
        <source>Graphics cards</source>
        <translation>グラフィックスカード</translation>
    </message>
    <message>
        <source>Processor load</source>
        <translation>プロセッサの負荷</translation>
    </message>
    <message>
        <source>Processor temperature</source>
        <translation>プロセッサの温度</translation>
    </message>
    <message>
        <source>Main memory</source>
        <translation>メインメモリ</translation>
    </message>
    <message>
        <source>Battery</source>
        <translation>バッテリー</translation>
    </message>
    <message>
        <source>Power saving</source>
        <translation>省電力</translation>
    </message>
    <message>
        <source>Without it, lending waits until the computer is locked. Lock it when you leave, or allow lending while you use it in Settings, When to lend.</source>
        <translation>これがないと、コンピューターがロックされるまで提供を待ちます。離れるときにロックするか、「設定」の「提供する条件」で使用中の提供を許可してください。</translation>
    </message>
    <message>
        <source>Without it, only the time without input tells that you are away.</source>
        <translation>これがないと、離席しているかどうかは操作のない時間だけで判断します。</translation>
    </message>
    <message>
        <source>Without it, lending waits, since another user may be at the computer. Start Tequio again.</source>
        <translation>これがないと、ほかのユーザーが使っているかもしれないので、提供を待ちます。Tequioを起動し直してください。</translation>
    </message>
    <message>
        <source>Without it, lending waits until the computer is locked, unless you switch off pausing for games in Settings, When to lend.</source>
        <translation>これがないと、「設定」の「提供する条件」でゲーム中の一時停止をオフにしない限り、コンピューターがロックされるまで提供を待ちます。</translation>
    </message>
    <message>
        <source>Games are still known by their launchers and by filling the screen. To have it, install GameMode.</source>
        <translation>ゲームは起動元と全画面表示でも判別できます。利用するにはGameModeをインストールしてください。</translation>
    </message>
    <message>
        <source>Without it, your exclusive programs and games cannot be seen. Empty that list and switch off pausing for games in Settings, When to lend, or start Tequio again.</source>
        <translation>これがないと、排他プログラムとゲームを判別できません。「設定」の「提供する条件」でその一覧を空にしてゲーム中の一時停止をオフにするか、Tequioを起動し直してください。</translation>
    </message>
    <message>
        <source>Without it, large transfers wait. Allow metered networks in Settings, Network, if yours costs nothing.</source>
        <translation>これがないと、大きな転送は待機します。料金がかからない場合は、「設定」の「ネットワーク」で従量制ネットワークを許可してください。</translation>
    </message>
    <message>
        <source>If such a card is in this computer, install or update its driver, then start the computer again.</source>
        <translation>該当するカードがこのコンピューターにある場合は、ドライバーをインストールまたは更新し、コンピューターを再起動してください。</translation>
    </message>
    <message>
        <source>Lending goes on; only the processor's temperature goal cannot be kept.</source>
        <translation>提供は続きます。プロセッサの目標温度だけが守れません。</translation>
    </message>
    <message>
        <source>If this computer has no battery, allow it in Settings, When to lend.</source>
        <translation>このコンピューターにバッテリーがない場合は、「設定」の「提供する条件」で許可してください。</translation>
    </message>
    <message>
        <source>If you never save power, allow lending while power is saved in Settings, When to lend.</source>
        <translation>省電力を使わない場合は、「設定」の「提供する条件」で省電力中の提供を許可してください。</translation>
    </message>
    <message>
        <source>Start Tequio again. If that does not help, copy the diagnostics and report it.</source>
        <translation>Tequioを起動し直してください。解決しない場合は、診断情報をコピーして報告してください。</translation>
    </message>
</context>
<context>
    <name>judging</name>
    <message>
        <source>It takes {memory} of memory</source>
        <translation>メモリを{memory}使います</translation>
    </message>
    <message>
        <source>It takes memory, about five bytes for each parameter of a model</source>
        <translation>モデルのパラメーター1個につき約5バイトのメモリを使います</translation>
    </message>
    <message>
        <source>{takes}, and some minutes of computing for each model when the texts are open, by the same rules as training. Evaluators cannot win with an entry of their own, nor judge a run that they trained in.</source>
        <translation>{takes}。テキストが開かれると、モデルごとに数分計算します。ルールは学習と同じです。評価者は自分のエントリーで勝つことも、自分が学習に加わったプロジェクトを審査することもできません。</translation>
    </message>
    <message>
        <source>You help to judge: this computer makes its offer within a minute or two.</source>
        <translation>審査に協力します。このコンピューターは1～2分以内に応募します。</translation>
    </message>
    <message>
        <source>Volunteers, drawn by lot, decide the winner: their computers score every model on the sealed texts. Yours can be one of them.</source>
        <translation>抽選で選ばれたボランティアが勝者を決めます。そのコンピューターが、封印されたテキストで全モデルを採点します。あなたのコンピューターも加われます。</translation>
    </message>
    <message>
        <source>You were drawn, but judging is switched off: {done} of {models} models are scored. Switch it on, or the scores of this computer will be missing.</source>
        <translation>抽選で選ばれましたが、審査がオフです。{models}個中{done}個のモデルを採点しました。オンにしないと、ほかの人だけで行うことになります。</translation>
    </message>
    <message>
        <source>You were drawn: {done} of {models} models are scored. It goes on when this computer may lend and the round under way is over.</source>
        <translation>抽選で選ばれました。{models}個中{done}個のモデルを採点しました。提供が可能になり、進行中のラウンドが終わると続けます。</translation>
    </message>
    <message>
        <source>Scoring: {done} of {models} models are done. The next one is made ready.</source>
        <translation>採点中：{models}個中{done}個のモデルが完了しました。次を準備しています。</translation>
    </message>
    <message>
        <source>Scoring: {done} of {models} models are done; {documents} of {texts} texts of {name}.</source>
        <translation>採点中：{models}個中{done}個のモデルが完了しました。{name}のテキスト{texts}件中{documents}件。</translation>
    </message>
    <message>
        <source>Offered</source>
        <translation>応募済み</translation>
    </message>
    <message>
        <source>In the draw</source>
        <translation>抽選対象</translation>
    </message>
    <message>
        <source>Not in the draw</source>
        <translation>抽選対象外</translation>
    </message>
    <message>
        <source>Not drawn</source>
        <translation>落選</translation>
    </message>
    <message>
        <source>Drawn</source>
        <translation>当選</translation>
    </message>
    <message>
        <source>All scored</source>
        <translation>採点完了</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>完了</translation>
    </message>
    <message>
        <source>Not in time</source>
        <translation>時間切れ</translation>
    </message>
    <message>
        <source>Scoring</source>
        <translation>採点中</translation>
    </message>
    <message>
        <source>Not possible</source>
        <translation>不可</translation>
    </message>
    <message>
        <source>On</source>
        <translation>オン</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>オフ</translation>
    </message>
    <message>
        <source>Your offer is in the log. After the deadline this computer draws a lot by itself; let Tequio run then, or others are drawn.</source>
        <translation>応募はログに記録されました。締め切り後、このコンピューターが自動でくじを引きます。そのときTequioを動かしておいてください。動いていないと、ほかの人が選ばれます。</translation>
    </message>
    <message>
        <source>Your lot is drawn. When the texts are opened, the lots decide who scores.</source>
        <translation>くじを引きました。テキストが開かれると、くじによって採点者が決まります。</translation>
    </message>
    <message>
        <source>No lot was drawn here in time, so others score. Nothing is lost.</source>
        <translation>ここでは時間内にくじが引かれなかったため、ほかの人が採点します。失うものはありません。</translation>
    </message>
    <message>
        <source>Others were drawn. Thank you for the offer.</source>
        <translation>ほかの人が選ばれました。ご応募ありがとうございました。</translation>
    </message>
    <message>
        <source>All models are scored here, and committed to. The scores are revealed when all others have committed too, or their time is over.</source>
        <translation>ここで全モデルを採点し、確定しました。ほかの全員が確定するか時間が過ぎると、採点が公開されます。</translation>
    </message>
    <message>
        <source>All your scores are in the log. Thank you.</source>
        <translation>あなたの採点はすべてログに記録されました。ありがとうございます。</translation>
    </message>
    <message>
        <source>Not all models were scored and revealed in time; the others' scores count.</source>
        <translation>時間内に採点・公開できなかったモデルがあります。ほかの人の採点が採用されます。</translation>
    </message>
    <message>
        <source>You hold a part of the key to the texts, so others judge here.</source>
        <translation>テキストのキーの一部を持っているため、審査はほかの人が行います。</translation>
    </message>
    <message>
        <source>Organisers do not judge.</source>
        <translation>主催者は審査しません。</translation>
    </message>
    <message>
        <source>You entered {by}, so others judge here.</source>
        <translation>{by}でエントリーしているため、審査はほかの人が行います。</translation>
    </message>
    <message>
        <source>You trained in a run that takes part, as {by}, so others judge here.</source>
        <translation>{by}として参加中のプロジェクトで学習したため、審査はほかの人が行います。</translation>
    </message>
    <message>
        <source>This computer cannot judge now: {by}.</source>
        <translation>このコンピューターは現在審査できません：{by}。</translation>
    </message>
    <message>
        <source>The ledger did not accept your offer: {by}.</source>
        <translation>台帳が応募を受け付けませんでした：{by}。</translation>
    </message>
</context>
<context>
    <name>keys</name>
    <message>
        <source>the key file {path} cannot be used: {why}</source>
        <translation>キーファイル{path}を使えません：{why}</translation>
    </message>
    <message>
        <source>others may read the key file {path} (mode {mode}): run chmod 600 {path}</source>
        <translation>キーファイル{path}がほかの人に読まれる可能性があります（モード{mode}）。chmod 600 {path}を実行してください</translation>
    </message>
    <message>
        <source>the key file {path} has {size} bytes instead of {due}: restore it from a backup, or move it away to become a new peer</source>
        <translation>キーファイル{path}は{size}バイトで、{due}バイトではありません。バックアップから復元するか、移動して新しいピアになってください</translation>
    </message>
    <message>
        <source>the key file {path} is damaged: restore it from a backup</source>
        <translation>キーファイル{path}が壊れています。バックアップから復元してください</translation>
    </message>
    <message>
        <source>no key found in {folder}: restore one from a backup, or make a new one</source>
        <translation>{folder}にキーが見つかりません。バックアップから復元するか、新しく作成してください</translation>
    </message>
    <message>
        <source>there is a key in {folder} already: restoring puts it aside, making does not</source>
        <translation>{folder}にはすでにキーがあります。復元すると今のキーは別に保管されますが、作成では保管されません</translation>
    </message>
    <message>
        <source>the key file {path} is sealed: a passphrase is needed</source>
        <translation>キーファイル{path}は暗号化されています。パスフレーズが必要です</translation>
    </message>
    <message>
        <source>the passphrase does not open the key file</source>
        <translation>このパスフレーズではキーファイルを開けません</translation>
    </message>
    <message>
        <source>the passphrase has fewer than {least} characters: choose a longer one</source>
        <translation>パスフレーズが{least}文字より短いです。もっと長いものを選んでください</translation>
    </message>
    <message>
        <source>this system has no keyring that could keep a secret: choose another way to store it</source>
        <translation>このシステムには秘密を保存できるキーリングがありません。別の保存方法を選んでください</translation>
    </message>
    <message>
        <source>the system's keyring is locked: unlock it and try again</source>
        <translation>システムのキーリングがロックされています。解除してからもう一度お試しください</translation>
    </message>
    <message>
        <source>the system's keyring fails ({why}): try again, or choose a passphrase</source>
        <translation>システムのキーリングでエラーが発生しました（{why}）。もう一度試すか、パスフレーズを選んでください</translation>
    </message>
    <message>
        <source>the system's keyring has not answered for {seconds} s: it may be asking for its password behind another window; try again then</source>
        <translation>システムのキーリングが{seconds}秒間応答していません。別のウィンドウの後ろでパスワードを求めている可能性があります。確認してからもう一度お試しください</translation>
    </message>
    <message>
        <source>the system's keyring has no entry for the key file {path}: it was emptied, or is another user's; restore the key from a backup</source>
        <translation>システムのキーリングに、キーファイル{path}の項目がありません。空にされたか、別のユーザーのものです。バックアップからキーを復元してください</translation>
    </message>
    <message>
        <source>the backup {path} cannot be used: {why}</source>
        <translation>バックアップ{path}を使えません：{why}</translation>
    </message>
    <message>
        <source>the file {path} is not a key backup: choose the one that is</source>
        <translation>ファイル{path}はキーのバックアップではありません。正しいファイルを選んでください</translation>
    </message>
    <message>
        <source>the passphrase does not open the backup {path}, or the file is damaged</source>
        <translation>このパスフレーズではバックアップ{path}を開けないか、ファイルが壊れています</translation>
    </message>
    <message>
        <source>the backup {path} does not read back as it was written: choose another place, this one is unreliable</source>
        <translation>バックアップ{path}を読み返すと、書き込んだ内容と異なります。この場所は信頼できないため、別の場所を選んでください</translation>
    </message>
    <message>
        <source>a key has {due} words and these are {count}</source>
        <translation>キーは{due}語ですが、入力されたのは{count}語です</translation>
    </message>
    <message>
        <source>word {number}, {word}, is not in the list of words: check your copy on paper</source>
        <translation>{number}番目の単語「{word}」は単語一覧にありません。紙の控えを確認してください</translation>
    </message>
    <message>
        <source>word {number}, {word}, is not in the list of words: it may be {near}</source>
        <translation>{number}番目の単語「{word}」は単語一覧にありません。「{near}」かもしれません</translation>
    </message>
    <message>
        <source>all words are in the list, but they do not fit together: one may be wrong, or two may be swapped</source>
        <translation>単語はすべて一覧にありますが、組み合わせが正しくありません。1つ間違っているか、2つが入れ替わっている可能性があります</translation>
    </message>
    <message>
        <source>the words do not belong together: look at word {number}, {word}, which may have been {near}</source>
        <translation>単語の組み合わせが正しくありません。{number}番目の単語「{word}」を確認してください。「{near}」だった可能性があります</translation>
    </message>
    <message>
        <source>the words do not belong together: words {first} and {second} may have changed places</source>
        <translation>単語の組み合わせが正しくありません。{first}番目と{second}番目が入れ替わっている可能性があります</translation>
    </message>
</context>
<context>
    <name>notices</name>
    <message>
        <source>Dismiss</source>
        <translation>閉じる</translation>
    </message>
    <message>
        <source>Your settings could not be read. They are kept as {detail}, and the usual ones hold until you choose others.</source>
        <translation>設定を読み込めませんでした。{detail}として保管してあります。選び直すまで既定の設定を使います。</translation>
    </message>
    <message>
        <source>Your settings were written by a newer Tequio. What this one knows of them is used; they are kept as {detail}.</source>
        <translation>設定は新しいバージョンのTequioで書かれています。このバージョンが認識できるものを使い、元の設定は{detail}として保管しています。</translation>
    </message>
    <message>
        <source>Your settings could not be saved ({detail}). They hold until you quit; make room or make the file writable, and they will be saved.</source>
        <translation>設定を保存できませんでした（{detail}）。終了するまでは有効です。空きを増やすか、ファイルを書き込み可能にすると保存されます。</translation>
    </message>
    <message>
        <source>A worker that was started elsewhere runs already. This window controls it, and it goes on when you quit.</source>
        <translation>別の場所で起動されたワーカーがすでに動作しています。このウィンドウで操作でき、終了後も動作を続けます。</translation>
    </message>
    <message>
        <source>The worker here was started elsewhere, so this window cannot change its network. End it, then join again.</source>
        <translation>ここのワーカーは別の場所で起動されたため、このウィンドウからネットワークを変更できません。終了してから、もう一度参加してください。</translation>
    </message>
    <message>
        <source>You joined {detail}.</source>
        <translation>{detail}に参加しました。</translation>
    </message>
    <message>
        <source>This competition link is incomplete ({detail}). Copy it again.</source>
        <translation>このコンペのリンクは不完全です（{detail}）。もう一度コピーしてください。</translation>
    </message>
    <message>
        <source>That competition is in another network, whose ledger is {detail}. Choose Join a network, then open the link again.</source>
        <translation>このコンペは、台帳が{detail}の別のネットワークのものです。「ネットワークに参加」を選んでから、リンクをもう一度開いてください。</translation>
    </message>
    <message>
        <source>Your desktop shows no tray icons, so closing this window minimises it. Ctrl+Q quits and stops lending.</source>
        <translation>このデスクトップはトレイアイコンを表示しないため、ウィンドウを閉じると最小化します。Ctrl+Qで終了し、提供を停止します。</translation>
    </message>
</context>
<context>
    <name>pages</name>
    <message>
        <source>Home</source>
        <translation>ホーム</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>学習プロジェクト</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>モデル</translation>
    </message>
    <message>
        <source>Competitions</source>
        <translation>コンペ</translation>
    </message>
    <message>
        <source>Points</source>
        <translation>ポイント</translation>
    </message>
    <message>
        <source>Hardware</source>
        <translation>ハードウェア</translation>
    </message>
    <message>
        <source>Activity</source>
        <translation>アクティビティ</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>設定</translation>
    </message>
</context>
<context>
    <name>remedies</name>
    <message>
        <source>Try again</source>
        <translation>再試行</translation>
    </message>
    <message>
        <source>At the present rate, this month's {cap} of traffic will be used up on {day}. Then nothing is lent until the next month, unless you raise the limit.</source>
        <translation>現在のペースでは、今月の通信量{cap}は{day}に使い切ります。上限を引き上げない限り、その後は翌月まで提供しません。</translation>
    </message>
    <message>
        <source>Statements that wait here for it: {waiting}.</source>
        <translation>送信待ちのステートメント：{waiting}。</translation>
    </message>
    <message>
        <source>Your key has no backup: if this disk fails, your points cannot be claimed.</source>
        <translation>キーのバックアップがありません。このディスクが壊れると、ポイントを取り戻せません。</translation>
    </message>
    <message>
        <source>Open Settings</source>
        <translation>設定を開く</translation>
    </message>
    <message>
        <source>Open Hardware</source>
        <translation>ハードウェアを開く</translation>
    </message>
    <message>
        <source>Open Activity</source>
        <translation>アクティビティを開く</translation>
    </message>
    <message>
        <source>Open Runs</source>
        <translation>学習プロジェクトを開く</translation>
    </message>
    <message>
        <source>Join a network…</source>
        <translation>ネットワークに参加…</translation>
    </message>
    <message>
        <source>Back it up</source>
        <translation>バックアップする</translation>
    </message>
    <message>
        <source>The network has not answered since {since}.</source>
        <translation>{since}からネットワークが応答していません。</translation>
    </message>
    <message>
        <source>The network has not answered since {since}. Work goes on, and points follow later.</source>
        <translation>{since}からネットワークが応答していません。作業は続き、ポイントは後で反映されます。</translation>
    </message>
    <message>
        <source>Update now</source>
        <translation>今すぐ更新</translation>
    </message>
    <message>
        <source>Update it the way it was installed, for example with git, pip or the system's packages.</source>
        <translation>git、pip、システムのパッケージなど、インストールしたときの方法で更新してください。</translation>
    </message>
</context>
<context>
    <name>sentences</name>
    <message>
        <source>{word}: {reason}</source>
        <translation>{word}：{reason}</translation>
    </message>
    <message>
        <source>{first} {second}</source>
        <translation>{first}{second}</translation>
    </message>
    <message>
        <source>{text}.</source>
        <translation>{text}。</translation>
    </message>
</context>
<context>
    <name>settings</name>
    <message>
        <source>Stops lending now</source>
        <translation>提供を今すぐ停止</translation>
    </message>
    <message>
        <source>on</source>
        <translation>オン</translation>
    </message>
    <message>
        <source>off</source>
        <translation>オフ</translation>
    </message>
    <message>
        <source>{note} Default: {default}.</source>
        <translation>{note}既定値：{default}。</translation>
    </message>
    <message>
        <source>When to lend</source>
        <translation>提供する条件</translation>
    </message>
    <message>
        <source>Tequio runs only when every rule allows it. Changes apply immediately.</source>
        <translation>Tequioは、すべてのルールが許可するときだけ動作します。変更はすぐに反映されます。</translation>
    </message>
    <message>
        <source>While you're using the computer</source>
        <translation>コンピューターの使用中</translation>
    </message>
    <message>
        <source>Games and films</source>
        <translation>ゲームと動画</translation>
    </message>
    <message>
        <source>Power</source>
        <translation>電源</translation>
    </message>
    <message>
        <source>Other programs</source>
        <translation>ほかのプログラム</translation>
    </message>
    <message>
        <source>Competitions</source>
        <translation>コンペ</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>プリセット</translation>
    </message>
    <message>
        <source>Default: Balanced. A preset changes only the settings named on its card.</source>
        <translation>既定値：バランス。プリセットが変更するのは、カードに書かれた設定だけです。</translation>
    </message>
    <message>
        <source>Idle time before starting</source>
        <translation>開始までの待ち時間</translation>
    </message>
    <message>
        <source>Starts after this long without input, or as soon as the screen is locked.</source>
        <translation>この時間操作がないと、または画面がロックされるとすぐに開始します。</translation>
    </message>
    <message>
        <source>min</source>
        <translation>分</translation>
    </message>
    <message>
        <source>Immediately</source>
        <translation>すぐに</translation>
    </message>
    <message>
        <source>Lend while I use the computer</source>
        <translation>使用中も提供する</translation>
    </message>
    <message>
        <source>Tequio then works for part of the time. The rules for games and films still apply.</source>
        <translation>Tequioは時間の一部だけ動作します。ゲームと動画のルールは引き続き適用されます。</translation>
    </message>
    <message>
        <source>Share of the time</source>
        <translation>時間の割合</translation>
    </message>
    <message>
        <source>How much of the time Tequio works while you use the computer.</source>
        <translation>使用中にTequioが動作する時間の割合です。</translation>
    </message>
    <message>
        <source>Keep the computer awake</source>
        <translation>スリープさせない</translation>
    </message>
    <message>
        <source>Keeps the computer from going to sleep while something is lent.</source>
        <translation>提供している間、コンピューターをスリープさせません。</translation>
    </message>
    <message>
        <source>Hours of the week</source>
        <translation>週の時間帯</translation>
    </message>
    <message>
        <source>Drag to select hours, or use Shift+arrow keys; Space toggles an hour.</source>
        <translation>ドラッグまたはShift+矢印キーで時間帯を選びます。スペースキーで1時間ずつ切り替えます。</translation>
    </message>
    <message>
        <source>all hours</source>
        <translation>すべての時間帯</translation>
    </message>
    <message>
        <source>Pause for games</source>
        <translation>ゲーム中は一時停止</translation>
    </message>
    <message>
        <source>Nothing is lent while a game runs or fills the screen, and for 60 s afterwards.</source>
        <translation>ゲームの実行中や全画面表示中、およびその後60秒間は提供しません。</translation>
    </message>
    <message>
        <source>Pause for films</source>
        <translation>動画の再生中は一時停止</translation>
    </message>
    <message>
        <source>Nothing is lent while a browser or a video player fills the screen.</source>
        <translation>ブラウザーや動画プレーヤーが全画面表示の間は提供しません。</translation>
    </message>
    <message>
        <source>Exclusive programs</source>
        <translation>排他プログラム</translation>
    </message>
    <message>
        <source>Nothing is lent while one of these runs: video editing, calls, recording.</source>
        <translation>動画編集、通話、録画など、これらのプログラムの実行中は提供しません。</translation>
    </message>
    <message>
        <source>none</source>
        <translation>なし</translation>
    </message>
    <message>
        <source>Lend on battery</source>
        <translation>バッテリー駆動時も提供</translation>
    </message>
    <message>
        <source>Continues when the computer is unplugged.</source>
        <translation>電源プラグを抜いても続けます。</translation>
    </message>
    <message>
        <source>Lend in power saving mode</source>
        <translation>省電力モードでも提供</translation>
    </message>
    <message>
        <source>Continues when power saving is switched on, by you or by the system.</source>
        <translation>あなたまたはシステムが省電力をオンにしても続けます。</translation>
    </message>
    <message>
        <source>Other programs on the GPU</source>
        <translation>ほかのプログラムのGPU使用率</translation>
    </message>
    <message>
        <source>Pauses while other programs keep the GPU busier than this for 3 s.</source>
        <translation>ほかのプログラムによるGPU使用率がこの値を3秒間超えると一時停止します。</translation>
    </message>
    <message>
        <source>%</source>
        <translation>%</translation>
    </message>
    <message>
        <source>Other programs on the CPU</source>
        <translation>ほかのプログラムのCPU使用率</translation>
    </message>
    <message>
        <source>Pauses while other programs keep all CPU cores together busier than this.</source>
        <translation>ほかのプログラムによる全CPUコアの使用率がこの値を超えると一時停止します。</translation>
    </message>
    <message>
        <source>Help judge competitions</source>
        <translation>コンペの審査に協力</translation>
    </message>
    <message>
        <source>Needs about five bytes of memory for each parameter of a model, and some minutes of computing for each model once the texts are open. It follows the same rules as training. A judge cannot win with their own entry, nor judge a run they trained in.</source>
        <translation>モデルのパラメーター1個につき約5バイトのメモリを使い、テキストが開かれるとモデルごとに数分計算します。ルールは学習と同じです。審査する人は自分のエントリーで勝つことも、自分が学習に加わったプロジェクトを審査することもできません。</translation>
    </message>
    <message>
        <source>Network</source>
        <translation>ネットワーク</translation>
    </message>
    <message>
        <source>The network that you work for, and how much bandwidth that may take.</source>
        <translation>参加するネットワークと、使用できる帯域幅を設定します。</translation>
    </message>
    <message>
        <source>Your network</source>
        <translation>ネットワークの選択</translation>
    </message>
    <message>
        <source>Bandwidth</source>
        <translation>帯域幅</translation>
    </message>
    <message>
        <source>Per month</source>
        <translation>1か月の通信量</translation>
    </message>
    <message>
        <source>Connections from others</source>
        <translation>ほかからの接続</translation>
    </message>
    <message>
        <source>Metered networks</source>
        <translation>従量制ネットワーク</translation>
    </message>
    <message>
        <source>Ledger</source>
        <translation>台帳</translation>
    </message>
    <message>
        <source>The server that keeps the public log of the network's work and points.</source>
        <translation>ネットワークの作業とポイントの公開ログを保管するサーバーです。</translation>
    </message>
    <message>
        <source>Upload</source>
        <translation>アップロード</translation>
    </message>
    <message>
        <source>Upload limit. Stay below half your connection speed to keep games and calls smooth.</source>
        <translation>アップロードの上限です。回線速度の半分未満にすると、ゲームや通話が快適に保たれます。</translation>
    </message>
    <message>
        <source>Mbit/s</source>
        <translation>Mbit/s</translation>
    </message>
    <message>
        <source>No limit</source>
        <translation>上限なし</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>ダウンロード</translation>
    </message>
    <message>
        <source>Download limit. It does not slow the models that you score for competitions.</source>
        <translation>ダウンロードの上限です。コンペのために採点するモデルには適用されません。</translation>
    </message>
    <message>
        <source>Monthly quota</source>
        <translation>月間上限</translation>
    </message>
    <message>
        <source>Upload and download together. Once it is used up, lending resumes on the first of the next month.</source>
        <translation>アップロードとダウンロードの合計です。使い切ると、翌月1日に提供を再開します。</translation>
    </message>
    <message>
        <source>GB</source>
        <translation>GB</translation>
    </message>
    <message>
        <source>Used this month</source>
        <translation>今月の使用量</translation>
    </message>
    <message>
        <source>Others can connect to this computer</source>
        <translation>ほかからこのコンピューターに接続できる</translation>
    </message>
    <message>
        <source>Found out by asking other computers of the network to try.</source>
        <translation>ネットワークのほかのコンピューターに試してもらって確認します。</translation>
    </message>
    <message>
        <source>Open a port on the router</source>
        <translation>ルーターのポートを開く</translation>
    </message>
    <message>
        <source>Asks your router by UPnP or NAT-PMP to let other computers of the network connect to this one. The port is closed when Tequio ends.</source>
        <translation>ネットワークのほかのコンピューターがこのコンピューターに接続できるよう、UPnPまたはNAT-PMPでルーターに依頼します。ポートはTequioの終了時に閉じられます。</translation>
    </message>
    <message>
        <source>Find members in the local network</source>
        <translation>ローカルネットワークのメンバーを見つける</translation>
    </message>
    <message>
        <source>Computers behind the same router exchange directly instead of through the internet. Everyone in the local network can see that this computer runs Tequio.</source>
        <translation>同じルーターの内側にあるコンピューター同士が、インターネットを経由せずに直接やり取りします。ローカルネットワークの誰もが、このコンピューターでTequioが動いていることを知ることができます。</translation>
    </message>
    <message>
        <source>Lend on metered networks</source>
        <translation>従量制ネットワークでも提供</translation>
    </message>
    <message>
        <source>On a phone's hotspot, or where the system marks the network as metered.</source>
        <translation>スマートフォンのテザリングや、システムが従量制とするネットワークで提供します。</translation>
    </message>
    <message>
        <source>Storage</source>
        <translation>ストレージ</translation>
    </message>
    <message>
        <source>How much disk space Tequio may use.</source>
        <translation>Tequioが使えるディスク容量を設定します。</translation>
    </message>
    <message>
        <source>Tequio's files</source>
        <translation>Tequioのファイル</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>ディスク</translation>
    </message>
    <message>
        <source>Storage limit</source>
        <translation>保存容量の上限</translation>
    </message>
    <message>
        <source>For the model, data and updates of your runs. The oldest are deleted first.</source>
        <translation>学習プロジェクトのモデル、データ、更新データに使います。古いものから削除されます。</translation>
    </message>
    <message>
        <source>Used by Tequio</source>
        <translation>Tequioの使用量</translation>
    </message>
    <message>
        <source>Always keep free</source>
        <translation>常に空けておく容量</translation>
    </message>
    <message>
        <source>Lending waits when less disk space than this is free.</source>
        <translation>ディスクの空きがこれより少ないと、提供を待ちます。</translation>
    </message>
    <message>
        <source>Free now</source>
        <translation>現在の空き</translation>
    </message>
    <message>
        <source>On the disk that holds Tequio's files.</source>
        <translation>Tequioのファイルがあるディスクの空きです。</translation>
    </message>
    <message>
        <source>Notifications</source>
        <translation>通知</translation>
    </message>
    <message>
        <source>What Tequio notifies you of.</source>
        <translation>Tequioが通知する内容です。</translation>
    </message>
    <message>
        <source>First points</source>
        <translation>最初のポイント</translation>
    </message>
    <message>
        <source>Once, when your first points are verified.</source>
        <translation>最初のポイントが検証されたときに、1回だけ通知します。</translation>
    </message>
    <message>
        <source>Weekly rank</source>
        <translation>週間順位</translation>
    </message>
    <message>
        <source>Once a week, how your rank has changed.</source>
        <translation>順位の変化を週に1回通知します。</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>要対応</translation>
    </message>
    <message>
        <source>When lending cannot continue until you do something.</source>
        <translation>対応するまで提供を続けられないときに通知します。</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>学習プロジェクト</translation>
    </message>
    <message>
        <source>When a run you are in ends, or goes back to an earlier model.</source>
        <translation>参加している学習プロジェクトが終了したとき、または以前のモデルに戻ったときに通知します。</translation>
    </message>
    <message>
        <source>When one begins, when its deadline is near and when it is decided; when you are drawn to judge, and when all your scores are in.</source>
        <translation>開始時、締め切り間近、結果の確定時と、審査に選ばれたとき、採点がすべて提出されたときに通知します。</translation>
    </message>
    <message>
        <source>Announcements</source>
        <translation>お知らせ</translation>
    </message>
    <message>
        <source>When the organisers of the network announce something to everybody.</source>
        <translation>ネットワークの主催者が全員にお知らせを出したとき。</translation>
    </message>
    <message>
        <source>Notifications wait while a program fills the screen.</source>
        <translation>プログラムが全画面表示の間は、通知を待ちます。</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>外観</translation>
    </message>
    <message>
        <source>Colours, language and motion.</source>
        <translation>色、言語、アニメーションを設定します。</translation>
    </message>
    <message>
        <source>Colours</source>
        <translation>色</translation>
    </message>
    <message>
        <source>A light or a dark theme.</source>
        <translation>ライトまたはダークのテーマです。</translation>
    </message>
    <message>
        <source>Same as system</source>
        <translation>システムと同じ</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>ライト</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>ダーク</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>言語</translation>
    </message>
    <message>
        <source>For texts, dates and numbers. Texts without a translation are in English.</source>
        <translation>文章、日付、数値に使います。翻訳のない文章は英語で表示されます。</translation>
    </message>
    <message>
        <source>Reduced motion</source>
        <translation>アニメーションを減らす</translation>
    </message>
    <message>
        <source>No sliding or fading. The system's own setting has the same effect.</source>
        <translation>スライドやフェードを使いません。システムの設定でも同じ効果があります。</translation>
    </message>
    <message>
        <source>Account and keys</source>
        <translation>アカウントとキー</translation>
    </message>
    <message>
        <source>Your identity on the network.</source>
        <translation>ネットワークでのあなたのIDです。</translation>
    </message>
    <message>
        <source>Name and team</source>
        <translation>名前とチーム</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>キー</translation>
    </message>
    <message>
        <source>If this computer is lost or the key is stolen</source>
        <translation>コンピューターの紛失やキーの盗難に備える</translation>
    </message>
    <message>
        <source>Public name</source>
        <translation>公開名</translation>
    </message>
    <message>
        <source>Shown instead of your key in rankings and on pages. Unique in this network.</source>
        <translation>ランキングやページでキーの代わりに表示されます。このネットワークで一意です。</translation>
    </message>
    <message>
        <source>nickname rename</source>
        <translation>ニックネーム ユーザー名 改名</translation>
    </message>
    <message>
        <source>Team</source>
        <translation>チーム</translation>
    </message>
    <message>
        <source>Join one with a link from its owner, or found your own. What you earn also counts for your team.</source>
        <translation>オーナーからのリンクで参加するか、自分のチームを作成できます。獲得したポイントはチームのポイントにもなります。</translation>
    </message>
    <message>
        <source>group friends</source>
        <translation>グループ 仲間 友達</translation>
    </message>
    <message>
        <source>Peer id</source>
        <translation>ピアID</translation>
    </message>
    <message>
        <source>How other computers find yours; visible to everyone.</source>
        <translation>ほかのコンピューターがあなたのコンピューターを見つけるためのもので、誰でも見られます。</translation>
    </message>
    <message>
        <source>Key fingerprint</source>
        <translation>キーのフィンガープリント</translation>
    </message>
    <message>
        <source>The public half of your key, shown with your points and in the ranking. The secret half never leaves this computer; nobody who helps you will ask for it.</source>
        <translation>キーの公開部分で、ポイントとともにランキングに表示されます。秘密部分がこのコンピューターの外に出ることはなく、サポートする人が尋ねることもありません。</translation>
    </message>
    <message>
        <source>Linked account</source>
        <translation>連携アカウント</translation>
    </message>
    <message>
        <source>Shows the network that a person is behind your key. Some runs ask for it.</source>
        <translation>キーの背後に人がいることをネットワークに示します。これを求める学習プロジェクトがあります。</translation>
    </message>
    <message>
        <source>connect vouch github tier</source>
        <translation>接続 保証 github ティア</translation>
    </message>
    <message>
        <source>Standing</source>
        <translation>信用</translation>
    </message>
    <message>
        <source>Your key is in good standing.</source>
        <translation>キーの信用は良好です。</translation>
    </message>
    <message>
        <source>Appeal</source>
        <translation>異議申し立て</translation>
    </message>
    <message>
        <source>If your key was restricted by mistake, ask the organisers to review it.</source>
        <translation>誤ってキーが制限された場合は、主催者に再審査を依頼してください。</translation>
    </message>
    <message>
        <source>quarantine ban suspected review</source>
        <translation>隔離 禁止 疑い 再審査</translation>
    </message>
    <message>
        <source>Backup and restore</source>
        <translation>バックアップと復元</translation>
    </message>
    <message>
        <source>Setup</source>
        <translation>セットアップ</translation>
    </message>
    <message>
        <source>Run the setup again. Nothing changes until you finish it.</source>
        <translation>セットアップをもう一度行います。完了するまで何も変わりません。</translation>
    </message>
    <message>
        <source>Recovery key</source>
        <translation>回復キー</translation>
    </message>
    <message>
        <source>Stops this computer's key and moves your points to a new one, even if a thief has the computer. Keep it somewhere else.</source>
        <translation>コンピューターが盗まれた場合でも、このコンピューターのキーを停止し、ポイントを新しいキーに移します。別の場所に保管してください。</translation>
    </message>
    <message>
        <source>stolen lost theft words paper</source>
        <translation>盗難 紛失 単語 紙</translation>
    </message>
    <message>
        <source>Replace this computer's key</source>
        <translation>このコンピューターのキーを置き換える</translation>
    </message>
    <message>
        <source>A new key gets your points, standing, name and team. The present one can never be used again.</source>
        <translation>新しいキーがポイント、信用、名前、チームを引き継ぎます。現在のキーは二度と使えなくなります。</translation>
    </message>
    <message>
        <source>new key rotate stolen</source>
        <translation>新しいキー 交換 盗難</translation>
    </message>
    <message>
        <source>A lost or stolen computer</source>
        <translation>コンピューターの紛失・盗難</translation>
    </message>
    <message>
        <source>Stop the key of another computer of yours, or move its points to this one.</source>
        <translation>別のコンピューターのキーを停止するか、そのポイントをこのコンピューターに移します。</translation>
    </message>
    <message>
        <source>revoke stolen thief</source>
        <translation>失効 盗難 泥棒</translation>
    </message>
    <message>
        <source>Startup</source>
        <translation>起動</translation>
    </message>
    <message>
        <source>Whether Tequio starts when you log in.</source>
        <translation>ログイン時にTequioを起動するかどうかを設定します。</translation>
    </message>
    <message>
        <source>Start at login</source>
        <translation>ログイン時に起動</translation>
    </message>
    <message>
        <source>Starts minimised to the tray; the window stays closed.</source>
        <translation>トレイに最小化して起動し、ウィンドウは開きません。</translation>
    </message>
    <message>
        <source>your choice during setup</source>
        <translation>セットアップでの選択</translation>
    </message>
    <message>
        <source>autostart background hidden</source>
        <translation>自動起動 バックグラウンド 非表示</translation>
    </message>
    <message>
        <source>Privacy</source>
        <translation>プライバシー</translation>
    </message>
    <message>
        <source>Everything that leaves this computer, and where it goes.</source>
        <translation>このコンピューターから送信されるすべてのものと、その送信先です。</translation>
    </message>
    <message>
        <source>To the public ledger (permanent, readable by anyone)</source>
        <translation>公開台帳へ（永久に残り、誰でも読めます）</translation>
    </message>
    <message>
        <source>To the ledger's operator</source>
        <translation>台帳の運営者へ</translation>
    </message>
    <message>
        <source>To other volunteers in your runs</source>
        <translation>同じ学習プロジェクトのボランティアへ</translation>
    </message>
    <message>
        <source>To your router</source>
        <translation>ルーターへ</translation>
    </message>
    <message>
        <source>To your local network</source>
        <translation>ローカルネットワークへ</translation>
    </message>
    <message>
        <source>To servers that offer Tequio or a run's data</source>
        <translation>Tequioまたは学習プロジェクトのデータの配布サーバーへ</translation>
    </message>
    <message>
        <source>Never sent</source>
        <translation>送信しないもの</translation>
    </message>
    <message>
        <source>Telemetry</source>
        <translation>テレメトリー</translation>
    </message>
    <message>
        <source>No usage data and no crash reports are ever sent. After an error you can copy a report and send it yourself.</source>
        <translation>使用状況データやクラッシュレポートを送信することはありません。エラーの後、レポートをコピーして自分で送ることができます。</translation>
    </message>
    <message>
        <source>None</source>
        <translation>なし</translation>
    </message>
    <message>
        <source>Your public key, and the work that a new key costs</source>
        <translation>公開キーと、新しいキーに必要な計算の証明</translation>
    </message>
    <message>
        <source>Once, so that points have an owner.</source>
        <translation>ポイントの持ち主を決めるため、1回だけ送信します。</translation>
    </message>
    <message>
        <source>That you are ready, in which roles, with which model</source>
        <translation>準備ができたこと、役割、モデル</translation>
    </message>
    <message>
        <source>Run, roles, the hash of the model you hold, a commitment for the draw.</source>
        <translation>学習プロジェクト、役割、持っているモデルのハッシュ、抽選用のコミットメント。</translation>
    </message>
    <message>
        <source>That you leave, with a reason code</source>
        <translation>離れることと、理由コード</translation>
    </message>
    <message>
        <source>When lending stops. The code never says why you stopped.</source>
        <translation>提供が止まったときに送信します。なぜ止めたかはコードに含まれません。</translation>
    </message>
    <message>
        <source>The header of each update that you trained</source>
        <translation>学習した各更新データのヘッダー</translation>
    </message>
    <message>
        <source>Run, round, windows of data, tokens, steps, two losses, hashes of model and update.</source>
        <translation>学習プロジェクト、ラウンド、データのウィンドウ、トークン数、ステップ数、2つの損失、モデルと更新データのハッシュ。</translation>
    </message>
    <message>
        <source>Which model you hold or computed for a round</source>
        <translation>ラウンドで持っている、または計算したモデル</translation>
    </message>
    <message>
        <source>Hashes of its parts, and your lot for the draw of witnesses.</source>
        <translation>各部分のハッシュと、検証者の抽選のくじ。</translation>
    </message>
    <message>
        <source>What you found as a witness</source>
        <translation>検証者として確認した内容</translation>
    </message>
    <message>
        <source>Which updates arrived, which were refused and by which rule, hashes, the hash of the next model.</source>
        <translation>届いた更新データ、拒否されたものとそのルール、ハッシュ、次のモデルのハッシュ。</translation>
    </message>
    <message>
        <source>What you found when you repeated another volunteer's work</source>
        <translation>別のボランティアの作業を再計算した結果</translation>
    </message>
    <message>
        <source>How far its result is from yours, in a few numbers, and a sketch of yours.</source>
        <translation>あなたの結果との差を示すいくつかの数値と、あなたの結果の要約。</translation>
    </message>
    <message>
        <source>How good a model is, where you were drawn to measure it</source>
        <translation>測定に選ばれたときの、モデルの良さ</translation>
    </message>
    <message>
        <source>Its hash, how many bits it needs for text that the run keeps aside, and how it continues a given beginning of a text.</source>
        <translation>モデルのハッシュ、評価用に取り置かれたテキストに必要なビット数、与えられた書き出しの続き方。</translation>
    </message>
    <message>
        <source>Your offer to judge competitions, and your scores</source>
        <translation>コンペの審査への応募と、あなたの採点</translation>
    </message>
    <message>
        <source>If you switched it on: a lot for the draw, commitments, the bits of each text, the program's version, the device's name and its threads.</source>
        <translation>オンにした場合：抽選のくじ、コミットメント、テキストごとのビット数、プログラムのバージョン、デバイス名とスレッド数。</translation>
    </message>
    <message>
        <source>Proofs that a key contradicted itself</source>
        <translation>キーが自己矛盾した証拠</translation>
    </message>
    <message>
        <source>Two statements signed by that key; and your appeal, if you make one.</source>
        <translation>そのキーが署名した2つのステートメントと、異議申し立て（行った場合）。</translation>
    </message>
    <message>
        <source>That a key has a recovery key, was replaced or was revoked</source>
        <translation>キーの回復キーの有無、置き換え、失効</translation>
    </message>
    <message>
        <source>If you do that: the public halves of the keys, which shows that they have one owner.</source>
        <translation>行った場合：各キーの公開部分。これにより、持ち主が同じであることが示されます。</translation>
    </message>
    <message>
        <source>What you publish yourself</source>
        <translation>自分で公開するもの</translation>
    </message>
    <message>
        <source>Your public name; the team that you earn for; entries and challenges in competitions.</source>
        <translation>公開名、ポイントを加算するチーム、コンペでのエントリーと異議。</translation>
    </message>
    <message>
        <source>With each statement</source>
        <translation>すべてのステートメントに付くもの</translation>
    </message>
    <message>
        <source>Its number, the time on your clock, the statement before it, your signature.</source>
        <translation>番号、あなたの時計の時刻、1つ前のステートメント、あなたの署名。</translation>
    </message>
    <message>
        <source>Your internet address and your requests</source>
        <translation>インターネットアドレスとリクエスト</translation>
    </message>
    <message>
        <source>As with every web server: log entries, runs, your own points and ranking.</source>
        <translation>通常のWebサーバーと同様です：ログエントリ、学習プロジェクト、自分のポイントと順位。</translation>
    </message>
    <message>
        <source>The text of an appeal, if you write one</source>
        <translation>異議申し立ての文章（書いた場合）</translation>
    </message>
    <message>
        <source>With your key, the time and your signature.</source>
        <translation>キー、時刻、署名とともに送信します。</translation>
    </message>
    <message>
        <source>Your peer id, addresses and ports</source>
        <translation>ピアID、アドレス、ポート</translation>
    </message>
    <message>
        <source>Including those of this computer in its local network, and the version of the network library.</source>
        <translation>ローカルネットワークでのこのコンピューターのアドレスと、ネットワークライブラリのバージョンを含みます。</translation>
    </message>
    <message>
        <source>Updates, models, training data and Tequio itself</source>
        <translation>更新データ、モデル、学習データ、Tequio本体</translation>
    </message>
    <message>
        <source>What you trained, and what others ask for: pieces of the public model and data, and of the versions of Tequio that you have fetched.</source>
        <translation>学習したものと、ほかの人が求めるもの：公開モデルとデータの一部、取得したバージョンのTequioの一部。</translation>
    </message>
    <message>
        <source>Your statements of the current round</source>
        <translation>現在のラウンドのステートメント</translation>
    </message>
    <message>
        <source>The same statements that the ledger gets.</source>
        <translation>台帳に送るものと同じステートメントです。</translation>
    </message>
    <message>
        <source>A port, and the name Tequio</source>
        <translation>ポートと、Tequioという名前</translation>
    </message>
    <message>
        <source>Only if you let Tequio open a port on the router, in Network.</source>
        <translation>「ネットワーク」で、Tequioがルーターのポートを開くことを許可した場合のみ。</translation>
    </message>
    <message>
        <source>That this computer runs Tequio, and its port</source>
        <translation>このコンピューターでTequioが動いていることと、そのポート</translation>
    </message>
    <message>
        <source>Only if you let Tequio find members there, in Network. Your key is not named.</source>
        <translation>「ネットワーク」で、Tequioがそこのメンバーを見つけることを許可した場合のみ。キーは含まれません。</translation>
    </message>
    <message>
        <source>Your internet address and what you fetch</source>
        <translation>インターネットアドレスと取得するもの</translation>
    </message>
    <message>
        <source>When Tequio looks for a newer version, or fetches it or what training needs.</source>
        <translation>新しいバージョンの確認時と、それや学習に必要なものの取得時に送信されます。</translation>
    </message>
    <message>
        <source>Your internet address and the parts you fetch</source>
        <translation>インターネットアドレスと取得する部分</translation>
    </message>
    <message>
        <source>When the organiser of a run keeps its data on a web server.</source>
        <translation>学習プロジェクトの主催者がデータをWebサーバーに置いている場合。</translation>
    </message>
    <message>
        <source>Your files, programs, games and windows</source>
        <translation>ファイル、プログラム、ゲーム、ウィンドウ</translation>
    </message>
    <message>
        <source>Tequio checks them on this computer only, to decide whether to lend.</source>
        <translation>提供するかどうかを決めるため、このコンピューター内でのみ確認します。</translation>
    </message>
    <message>
        <source>User name, computer name and device readings</source>
        <translation>ユーザー名、コンピューター名、デバイスの測定値</translation>
    </message>
    <message>
        <source>Others see how fast you train. Judges also publish the name of the device that scored.</source>
        <translation>学習の速さはほかの人にもわかります。審査する人は、採点に使ったデバイスの名前も公開します。</translation>
    </message>
    <message>
        <source>Your settings and hours</source>
        <translation>設定と時間帯</translation>
    </message>
    <message>
        <source>They stay in the app's folder.</source>
        <translation>アプリのフォルダーに保存されます。</translation>
    </message>
    <message>
        <source>Advanced</source>
        <translation>詳細設定</translation>
    </message>
    <message>
        <source>Most people never need these.</source>
        <translation>ほとんどの人には必要ありません。</translation>
    </message>
    <message>
        <source>Worker</source>
        <translation>ワーカー</translation>
    </message>
    <message>
        <source>Updates</source>
        <translation>更新</translation>
    </message>
    <message>
        <source>Reset</source>
        <translation>リセット</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>フォルダー</translation>
    </message>
    <message>
        <source>Key, store and state. To move it: quit, move the folder, and start with --dir.</source>
        <translation>キー、ストア、状態の保存先です。移動するには、終了してフォルダーを移し、--dirを付けて起動してください。</translation>
    </message>
    <message>
        <source>Listen address</source>
        <translation>待ち受けアドレス</translation>
    </message>
    <message>
        <source>Where peers reach this computer, for example /ip4/0.0.0.0/tcp/4001.</source>
        <translation>ピアがこのコンピューターに接続するアドレスです。例：/ip4/0.0.0.0/tcp/4001。</translation>
    </message>
    <message>
        <source>any free port</source>
        <translation>空いているポート</translation>
    </message>
    <message>
        <source>Log level</source>
        <translation>ログレベル</translation>
    </message>
    <message>
        <source>How much is written to worker.log in the folder. A change restarts the worker.</source>
        <translation>フォルダー内のworker.logに書き込む量です。変更するとワーカーが再起動します。</translation>
    </message>
    <message>
        <source>Everything</source>
        <translation>すべて</translation>
    </message>
    <message>
        <source>Events</source>
        <translation>イベント</translation>
    </message>
    <message>
        <source>Warnings</source>
        <translation>警告</translation>
    </message>
    <message>
        <source>Errors</source>
        <translation>エラー</translation>
    </message>
    <message>
        <source>Update automatically</source>
        <translation>自動的に更新</translation>
    </message>
    <message>
        <source>Once a day Tequio looks for a newer version, fetches it, and tests it. It starts while you are away and no round is running; if a passphrase protects your key, the next time Tequio starts.</source>
        <translation>Tequioは1日1回、新しいバージョンを確認し、ダウンロードしてテストします。離席中でラウンドが進行していないときに切り替わります。キーがパスフレーズで保護されている場合は、次にTequioを起動したときに切り替わります。</translation>
    </message>
    <message>
        <source>Reset all settings</source>
        <translation>すべての設定をリセット</translation>
    </message>
    <message>
        <source>Restores every default. Key, points, consent and chosen runs stay, except the processor's.</source>
        <translation>すべて既定値に戻します。キー、ポイント、同意、選んだ学習プロジェクトは残りますが、プロセッサのものは残りません。</translation>
    </message>
</context>
<context>
    <name>vesting</name>
    <message>
        <source>{points} of your points are still vesting: they can be lost if work turns out not to have been done.</source>
        <translation>{points}ポイントが確定待ちです。作業が行われていなかったと判明した場合、失われることがあります。</translation>
    </message>
    <message>
        <source>{points} more were forfeited, and are no longer counted.</source>
        <translation>さらに{points}ポイントが没収され、数えられなくなりました。</translation>
    </message>
</context>
<context>
    <name>words</name>
    <message>
        <source>Lending</source>
        <translation>提供中</translation>
    </message>
    <message>
        <source>Finishing</source>
        <translation>終了処理中</translation>
    </message>
    <message>
        <source>Waiting</source>
        <translation>待機中</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>一時停止中</translation>
    </message>
    <message>
        <source>Snoozed</source>
        <translation>スヌーズ中</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>要対応</translation>
    </message>
    <message>
        <source>nobody needs the computer. Gives way when you come back.</source>
        <translation>空き時間です。操作を再開すると、動作を控えます。</translation>
    </message>
    <message>
        <source>this device is lent also while you use the computer or play.</source>
        <translation>このデバイスは、使用中やゲーム中も提供します。</translation>
    </message>
    <message>
        <source>whether or not somebody uses the computer, which this worker cannot see. Pause stops it (tequio pause).</source>
        <translation>このワーカーにはコンピューターが使用中かどうかがわからないため、使用中も提供します。「一時停止」で止まります（tequio pause）。</translation>
    </message>
    <message>
        <source>gently, at {share}% of the time, while you use the computer.</source>
        <translation>使用中は控えめに、時間の{share}%で動作します。</translation>
    </message>
    <message>
        <source>you started it although a rule says to wait. The rules decide again once they have allowed it for 5 min.</source>
        <translation>待つべきルールがありますが、あなたが開始しました。ルールが5分間許可すると、再びルールに従います。</translation>
    </message>
    <message>
        <source>scoring models for a competition, as you offered. See Competitions.</source>
        <translation>応募に基づき、コンペのモデルを採点しています。「コンペ」をご覧ください。</translation>
    </message>
    <message>
        <source>nothing is lent before you agree to it. Choose when to lend, then Contribute.</source>
        <translation>同意するまで何も提供しません。条件を選び、「提供を開始」を押してください。</translation>
    </message>
    <message>
        <source>you paused it. Resumes when you choose Contribute.</source>
        <translation>あなたが一時停止しました。「提供を開始」を押すと再開します。</translation>
    </message>
    <message>
        <source>the last round is finished, as you asked. Resumes when you choose Contribute.</source>
        <translation>ご指定どおり最後のラウンドを終えました。「提供を開始」を押すと再開します。</translation>
    </message>
    <message>
        <source>you asked for a break. Resumes automatically.</source>
        <translation>休止を指定しました。自動的に再開します。</translation>
    </message>
    <message>
        <source>you asked for a break. Resumes {until}.</source>
        <translation>休止を指定しました。{until}に再開します。</translation>
    </message>
    <message>
        <source>this device is switched off. Switch it on in Hardware to lend it.</source>
        <translation>このデバイスはオフです。提供するには「ハードウェア」でオンにしてください。</translation>
    </message>
    <message>
        <source>until {program} closes. Resumes 60 s after that.</source>
        <translation>{program}が終了するまで。終了の60秒後に再開します。</translation>
    </message>
    <message>
        <source>until your game closes. Resumes 60 s after that.</source>
        <translation>ゲームが終了するまで。終了の60秒後に再開します。</translation>
    </message>
    <message>
        <source>your game has closed. Resumes {until}.</source>
        <translation>ゲームが終了しました。{until}に再開します。</translation>
    </message>
    <message>
        <source>round {round} is the last one. Then lending stops, as you asked.</source>
        <translation>ラウンド{round}が最後です。ご指定どおり、その後に提供を停止します。</translation>
    </message>
    <message>
        <source>what training needs is not installed yet. Resumes when it has been downloaded.</source>
        <translation>学習に必要なものがまだインストールされていません。ダウンロードが終わると再開します。</translation>
    </message>
    <message>
        <source>the training program keeps failing. Contribute tries again; Activity has the log.</source>
        <translation>学習プログラムが繰り返し失敗しています。「提供を開始」で再試行できます。ログは「アクティビティ」にあります。</translation>
    </message>
    <message>
        <source>can't reach the network at {address}. Tequio keeps trying; check your connection, or the address in Settings, Network.</source>
        <translation>{address}のネットワークに接続できません。Tequioは引き続き試行します。接続、または「設定」の「ネットワーク」のアドレスを確認してください。</translation>
    </message>
    <message>
        <source>no network was chosen yet. Choose one with Join a network.</source>
        <translation>ネットワークがまだ選ばれていません。「ネットワークに参加」で選んでください。</translation>
    </message>
    <message>
        <source>can't reach the network at {address}. Resumes when it answers.</source>
        <translation>{address}のネットワークに接続できません。応答すると再開します。</translation>
    </message>
    <message>
        <source>the other computers of the run cannot be reached. Tequio keeps trying; the listen address is in Settings, Advanced.</source>
        <translation>学習プロジェクトのほかのコンピューターに接続できません。Tequioは引き続き試行します。待ち受けアドレスは「設定」の「詳細設定」にあります。</translation>
    </message>
    <message>
        <source>no run is open now. Resumes automatically when one opens.</source>
        <translation>受付中の学習プロジェクトがありません。始まると自動的に再開します。</translation>
    </message>
    <message>
        <source>no open run fits this computer. Resumes when one does; Runs says what each needs.</source>
        <translation>このコンピューターに合う受付中のプロジェクトがありません。合うものがあると再開します。必要な条件は「学習プロジェクト」で確認できます。</translation>
    </message>
    <message>
        <source>every open run that fits this device is trained by another one of this computer. Resumes when another one opens.</source>
        <translation>このデバイスに合う受付中のプロジェクトは、すべてこのコンピューターの別のデバイスが学習しています。別のものが始まると再開します。</translation>
    </message>
    <message>
        <source>the run has ended. Resumes with another one; your points stay yours.</source>
        <translation>学習プロジェクトが終了しました。別のもので再開します。ポイントはそのまま残ります。</translation>
    </message>
    <message>
        <source>this computer cannot take part in the run ({problem}). See Runs; retries automatically.</source>
        <translation>このコンピューターはこのプロジェクトに参加できません（{problem}）。「学習プロジェクト」をご覧ください。自動的に再試行します。</translation>
    </message>
    <message>
        <source>the run brings its own code ({plugin}), which needs your consent. See Runs to allow it, or to choose another run.</source>
        <translation>この学習プロジェクトには独自のコード（{plugin}）が付属しており、同意が必要です。「学習プロジェクト」で許可するか、別の学習プロジェクトを選択してください。</translation>
    </message>
    <message>
        <source>your key cannot take part now ({problem}). See Activity for what you can do.</source>
        <translation>キーは現在参加できません（{problem}）。できることは「アクティビティ」をご覧ください。</translation>
    </message>
    <message>
        <source>this network needs version {wanted} or newer; this is {own}. Resumes once Tequio is updated.</source>
        <translation>このネットワークにはバージョン{wanted}以降が必要です（現在{own}）。Tequioを更新すると再開します。</translation>
    </message>
    <message>
        <source>this computer's clock is {minutes} min ahead, so the network refuses its work. Resumes once the clock is set right.</source>
        <translation>このコンピューターの時計が{minutes}分進んでいるため、ネットワークが作業を受け付けません。時計を正しく合わせると再開します。</translation>
    </message>
    <message>
        <source>this computer's clock is {minutes} min behind, so the network refuses its work. Resumes once the clock is set right.</source>
        <translation>このコンピューターの時計が{minutes}分遅れているため、ネットワークが作業を受け付けません。時計を正しく合わせると再開します。</translation>
    </message>
    <message>
        <source>no device is enabled. Turn one on in Hardware.</source>
        <translation>有効なデバイスがありません。「ハードウェア」でオンにしてください。</translation>
    </message>
    <message>
        <source>{device} has too little memory for this run, which needs {wanted} GB. Raise its limit in Hardware, choose another run, or open a cell with others in your network (tequio cell host).</source>
        <translation>{device}のメモリがこのプロジェクトには足りません（{wanted} GB必要）。「ハードウェア」で上限を引き上げるか、別のプロジェクトを選ぶか、同じネットワークの人とセルを開いてください（tequio cell host）。</translation>
    </message>
    <message>
        <source>only {free} GB of disk space are free, and {wanted} GB should stay free. Resumes when there is 1 GB more than that.</source>
        <translation>ディスクの空きは{free} GBだけですが、{wanted} GBを残す必要があります。それより1 GB増えると再開します。</translation>
    </message>
    <message>
        <source>cannot tell how much disk is free. Check that the store's folder is there.</source>
        <translation>ディスクの空き容量がわかりません。ストアのフォルダーがあるか確認してください。</translation>
    </message>
    <message>
        <source>the store holds {used} GB of at most {most} GB. Resumes when it has been trimmed; its limit is in Settings, Storage.</source>
        <translation>ストアが最大{most} GBのうち{used} GBを使っています。整理されると再開します。上限は「設定」の「ストレージ」にあります。</translation>
    </message>
    <message>
        <source>the computer runs on battery. Resumes on mains power.</source>
        <translation>バッテリーで動作しています。電源につなぐと再開します。</translation>
    </message>
    <message>
        <source>cannot tell whether the computer runs on battery. See Health in Activity, or allow lending on battery in Settings, When to lend.</source>
        <translation>バッテリーで動作しているかどうかわかりません。「アクティビティ」の「動作状態」を確認するか、「設定」の「提供する条件」でバッテリー駆動時の提供を許可してください。</translation>
    </message>
    <message>
        <source>cannot tell whether the computer saves power. See Health in Activity, or allow that in Settings, When to lend.</source>
        <translation>省電力中かどうかわかりません。「アクティビティ」の「動作状態」を確認するか、「設定」の「提供する条件」で許可してください。</translation>
    </message>
    <message>
        <source>the hardware probe does not answer. Resumes when it does; see Health in Activity.</source>
        <translation>ハードウェアの検出が応答しません。応答すると再開します。「アクティビティ」の「動作状態」をご覧ください。</translation>
    </message>
    <message>
        <source>the hardware is being checked. Resumes in a moment.</source>
        <translation>ハードウェアを確認しています。まもなく再開します。</translation>
    </message>
    <message>
        <source>power saving is on. Resumes when it is turned off.</source>
        <translation>省電力がオンです。オフにすると再開します。</translation>
    </message>
    <message>
        <source>{device} is at {degrees} °C, above your limit of {limit} °C. Resumes when it is 5 °C below the limit.</source>
        <translation>{device}は{degrees} °Cで、上限の{limit} °Cを超えています。上限より5 °C下がると再開します。</translation>
    </message>
    <message>
        <source>a game is running ({program}). Resumes 60 s after it closes.</source>
        <translation>ゲームが実行中です（{program}）。終了の60秒後に再開します。</translation>
    </message>
    <message>
        <source>a game is fullscreen ({program}). Resumes 60 s after it closes.</source>
        <translation>ゲームが全画面表示です（{program}）。終了の60秒後に再開します。</translation>
    </message>
    <message>
        <source>a film is fullscreen ({program}). Resumes 60 s after it closes.</source>
        <translation>動画が全画面表示です（{program}）。終了の60秒後に再開します。</translation>
    </message>
    <message>
        <source>{program} is running, and you want nothing lent beside it. Resumes 60 s after it closes.</source>
        <translation>{program}が実行中です。その間は提供しない設定です。終了の60秒後に再開します。</translation>
    </message>
    <message>
        <source>a game or another exclusive program has just closed. Resumes {until}.</source>
        <translation>ゲームまたはほかの排他プログラムが終了したばかりです。{until}に再開します。</translation>
    </message>
    <message>
        <source>outside the hours in which you lend. Resumes {until}.</source>
        <translation>提供する時間帯ではありません。{until}に再開します。</translation>
    </message>
    <message>
        <source>no hour of the week is chosen. Choose some in Settings, When to lend.</source>
        <translation>週の時間帯が選ばれていません。「設定」の「提供する条件」で選んでください。</translation>
    </message>
    <message>
        <source>this month's {gb} GB of traffic are used up. Resumes {until}.</source>
        <translation>今月の通信量{gb} GBを使い切りました。{until}に再開します。</translation>
    </message>
    <message>
        <source>this network is metered. Resumes on another network.</source>
        <translation>このネットワークは従量制です。別のネットワークで再開します。</translation>
    </message>
    <message>
        <source>cannot tell whether this network is metered. See Health in Activity, or allow metered networks in Settings, Network.</source>
        <translation>このネットワークが従量制かどうかわかりません。「アクティビティ」の「動作状態」を確認するか、「設定」の「ネットワーク」で従量制ネットワークを許可してください。</translation>
    </message>
    <message>
        <source>you are using the computer. Resumes after {minutes} min without input.</source>
        <translation>コンピューターを使用中です。{minutes}分間操作がないと再開します。</translation>
    </message>
    <message>
        <source>cannot tell whether you are away. See Health in Activity.</source>
        <translation>離席中かどうかわかりません。「アクティビティ」の「動作状態」をご覧ください。</translation>
    </message>
    <message>
        <source>cannot tell whether you are away: nothing is known of your session. Resumes when its probes answer; see Health in Activity.</source>
        <translation>離席中かどうかわかりません。セッションの情報がありません。検出が応答すると再開します。「アクティビティ」の「動作状態」をご覧ください。</translation>
    </message>
    <message>
        <source>cannot tell when you last touched the computer. Resumes when it is locked; see Health in Activity.</source>
        <translation>最後に操作した時刻がわかりません。ロックされると再開します。「アクティビティ」の「動作状態」をご覧ください。</translation>
    </message>
    <message>
        <source>cannot tell whether a program fills the screen. Resumes when the computer is locked; see Health in Activity, or switch off pausing for games in Settings, When to lend.</source>
        <translation>全画面表示のプログラムがあるかどうかわかりません。コンピューターがロックされると再開します。「アクティビティ」の「動作状態」を確認するか、「設定」の「提供する条件」でゲーム中の一時停止をオフにしてください。</translation>
    </message>
    <message>
        <source>cannot tell whether a game is running. See Health in Activity, or switch off pausing for games in Settings, When to lend.</source>
        <translation>ゲームが実行中かどうかわかりません。「アクティビティ」の「動作状態」を確認するか、「設定」の「提供する条件」でゲーム中の一時停止をオフにしてください。</translation>
    </message>
    <message>
        <source>cannot tell whether one of your exclusive programs is running. See Health in Activity, or empty their list in Settings, When to lend.</source>
        <translation>排他プログラムが実行中かどうかわかりません。「アクティビティ」の「動作状態」を確認するか、「設定」の「提供する条件」で一覧を空にしてください。</translation>
    </message>
    <message>
        <source>another user is using this computer. Resumes when they have logged out.</source>
        <translation>ほかのユーザーがこのコンピューターを使用中です。その人がログアウトすると再開します。</translation>
    </message>
    <message>
        <source>other programs are using {percent}% of {device}. Resumes 60 s after they finish.</source>
        <translation>ほかのプログラムが{device}の{percent}%を使っています。終わってから60秒後に再開します。</translation>
    </message>
    <message>
        <source>other programs needed {device}. Resumes {until}.</source>
        <translation>ほかのプログラムが{device}を必要としていました。{until}に再開します。</translation>
    </message>
    <message>
        <source>other programs are using {percent}% of your CPU. Resumes below {below}%.</source>
        <translation>ほかのプログラムがCPUの{percent}%を使っています。{below}%を下回ると再開します。</translation>
    </message>
    <message>
        <source>cannot tell how much CPU other programs use. See Health in Activity, or set that limit to 100% in Settings, When to lend.</source>
        <translation>ほかのプログラムのCPU使用率がわかりません。「アクティビティ」の「動作状態」を確認するか、「設定」の「提供する条件」で上限を100%にしてください。</translation>
    </message>
    <message>
        <source>{device} has {free} GB of memory free and training needs {wanted} GB. Resumes when other programs give it back.</source>
        <translation>{device}の空きメモリは{free} GBですが、学習には{wanted} GB必要です。ほかのプログラムが解放すると再開します。</translation>
    </message>
    <message>
        <source>cannot tell what the graphics cards do: their probe does not answer. Resumes when it does; see Health in Activity.</source>
        <translation>グラフィックスカードの状態がわかりません。検出が応答していません。応答すると再開します。「アクティビティ」の「動作状態」をご覧ください。</translation>
    </message>
    <message>
        <source>the graphics cards are being checked. Resumes in a moment.</source>
        <translation>グラフィックスカードを確認しています。まもなく再開します。</translation>
    </message>
    <message>
        <source>cannot tell how busy other programs keep {device}. See Health in Activity, or set that limit to 100% in Settings, When to lend.</source>
        <translation>ほかのプログラムが{device}をどれだけ使っているかわかりません。「アクティビティ」の「動作状態」を確認するか、「設定」の「提供する条件」で上限を100%にしてください。</translation>
    </message>
    <message>
        <source>cannot tell how much memory of {device} is free. See Health in Activity.</source>
        <translation>{device}の空きメモリがわかりません。「アクティビティ」の「動作状態」をご覧ください。</translation>
    </message>
    <message>
        <source>training was slowed down: another program needs the device. Resumes {until}.</source>
        <translation>学習が遅くなりました。別のプログラムがデバイスを必要としています。{until}に再開します。</translation>
    </message>
    <message>
        <source>in {seconds} s</source>
        <translation>{seconds}秒後</translation>
    </message>
    <message>
        <source>in {minutes} min</source>
        <translation>{minutes}分後</translation>
    </message>
    <message>
        <source>at {time}</source>
        <translation>{time}</translation>
    </message>
    <message>
        <source>on {weekday} at {time}</source>
        <translation>{weekday} {time}</translation>
    </message>
    <message>
        <source>on {date} at {time}</source>
        <translation>{date} {time}</translation>
    </message>
    <message>
        <source>Started, version {version}.</source>
        <translation>起動しました（バージョン{version}）。</translation>
    </message>
    <message>
        <source>Your settings were changed.</source>
        <translation>設定が変更されました。</translation>
    </message>
    <message>
        <source>Joined the run {run}.</source>
        <translation>学習プロジェクト{run}に参加しました。</translation>
    </message>
    <message>
        <source>Left the run {run}.</source>
        <translation>学習プロジェクト{run}から離れました。</translation>
    </message>
    <message>
        <source>The run {run} has ended.</source>
        <translation>学習プロジェクト{run}が終了しました。</translation>
    </message>
    <message>
        <source>{run}, round {round}: your work was accepted, for {points} points.</source>
        <translation>{run}、ラウンド{round}：作業が受け入れられ、{points}ポイントを獲得しました。</translation>
    </message>
    <message>
        <source>{run}, round {round}: {points} points for checking others' work.</source>
        <translation>{run}、ラウンド{round}：ほかの人の作業の検証で{points}ポイントを獲得しました。</translation>
    </message>
    <message>
        <source>{run}, round {round}: {points} points that another key shared with yours.</source>
        <translation>{run}、ラウンド{round}：ほかの鍵から{points}ポイントが分配されました。</translation>
    </message>
    <message>
        <source>{run}, round {round}: you were not asked to do anything that earns points.</source>
        <translation>{run}、ラウンド{round}：ポイントになる作業の割り当てはありませんでした。</translation>
    </message>
    <message>
        <source>{run}, round {round}: too few witnesses received your work in time. This does not count against you.</source>
        <translation>{run}、ラウンド{round}：時間内に作業を受け取った検証者が少なすぎました。不利にはなりません。</translation>
    </message>
    <message>
        <source>{run}, round {round}: the round ended without your work.</source>
        <translation>{run}、ラウンド{round}：あなたの作業なしでラウンドが終わりました。</translation>
    </message>
    <message>
        <source>{run}, round {round}: the round is void, and its work is assigned again.</source>
        <translation>{run}、ラウンド{round}：ラウンドは無効になり、作業は割り当て直されます。</translation>
    </message>
    <message>
        <source>{run}, round {round}: the witnesses refused your work ({reason}).</source>
        <translation>{run}、ラウンド{round}：検証者があなたの作業を拒否しました（{reason}）。</translation>
    </message>
    <message>
        <source>{run}, round {round}: {points} points for repeating another volunteer's work of round {audited}.</source>
        <translation>{run}、ラウンド{round}：別のボランティアのラウンド{audited}の作業を再計算し、{points}ポイントを獲得しました。</translation>
    </message>
    <message>
        <source>{run}, round {round}: the round ended without your audit.</source>
        <translation>{run}、ラウンド{round}：あなたの監査なしでラウンドが終わりました。</translation>
    </message>
    <message>
        <source>You were chosen to repeat another volunteer's work of round {round}. This computer could not: {declined}. You are not asked again for a while; your training goes on.</source>
        <translation>別のボランティアのラウンド{round}の作業の再計算に選ばれましたが、このコンピューターではできませんでした：{declined}。しばらくは選ばれません。学習は続きます。</translation>
    </message>
    <message>
        <source>Another volunteer repeated your work of round {round}. It counts, but the results differ slightly more than usual. Unusual hardware can cause this. To be sure, measure your device again in Hardware.</source>
        <translation>別のボランティアがラウンド{round}のあなたの作業を再計算しました。作業は有効ですが、結果の差が通常よりわずかに大きくなりました。特殊なハードウェアが原因のことがあります。念のため、「ハードウェア」でデバイスを再測定してください。</translation>
    </message>
    <message>
        <source>Your key is now {standing}. Other volunteers repeated the same work in an audit and got other results than you. Often the computer is at fault: measure its device again in Hardware, update the graphics driver, and test the memory (RAM). If that finds nothing, you can appeal in Settings, Account and keys.</source>
        <translation>キーの状態：{standing}。ほかのボランティアが監査で同じ作業を再計算し、あなたと異なる結果になりました。多くの場合、原因はコンピューターにあります。「ハードウェア」でデバイスを再測定し、グラフィックスドライバーを更新し、メモリ（RAM）をテストしてください。問題が見つからない場合は、「設定」の「アカウントとキー」で異議を申し立てられます。</translation>
    </message>
    <message>
        <source>The ledger says that you have {ledger} points, but its log proves {proven}. What is not proven is not counted here.</source>
        <translation>台帳によるとあなたのポイントは{ledger}ですが、ログが証明するのは{proven}です。証明されていないものはここでは数えません。</translation>
    </message>
    <message>
        <source>{run}: downloaded and verified the model from round {round}.</source>
        <translation>{run}：ラウンド{round}のモデルをダウンロードし、検証しました。</translation>
    </message>
    <message>
        <source>Your key is now {standing}.</source>
        <translation>キーの状態：{standing}。</translation>
    </message>
    <message>
        <source>Your key is now {standing}. Reason: {cause}. If that is wrong, you can appeal in Settings, Account and keys.</source>
        <translation>キーの状態：{standing}。理由：{cause}。誤りがある場合は、「設定」の「アカウントとキー」で異議を申し立てられます。</translation>
    </message>
    <message>
        <source>The network cannot be reached. Work goes on without it for a while.</source>
        <translation>ネットワークに接続できません。しばらくはネットワークなしで作業を続けます。</translation>
    </message>
    <message>
        <source>The ledger can be reached again.</source>
        <translation>再び台帳に接続できるようになりました。</translation>
    </message>
    <message>
        <source>The ledger shows another log than before ({problem}). Its answers are no longer trusted.</source>
        <translation>台帳が以前と異なるログを示しています（{problem}）。その応答は今後信頼されません。</translation>
    </message>
    <message>
        <source>The training program stopped unexpectedly and was restarted.</source>
        <translation>学習プログラムが予期せず停止し、再起動されました。</translation>
    </message>
    <message>
        <source>A file was damaged or belongs to another program. It was kept as {file}, and a new one was started.</source>
        <translation>ファイルが壊れているか、別のプログラムのものでした。{file}として保管し、新しいファイルを作成しました。</translation>
    </message>
    <message>
        <source>This computer's clock was changed by {seconds} s.</source>
        <translation>このコンピューターの時計が{seconds}秒変更されました。</translation>
    </message>
    <message>
        <source>It is not known yet whether other computers can connect to this one.</source>
        <translation>ほかのコンピューターがこのコンピューターに接続できるかどうかは、まだ不明です。</translation>
    </message>
    <message>
        <source>Other computers can connect to this one.</source>
        <translation>ほかのコンピューターはこのコンピューターに接続できます。</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, because your router is in between. Nothing is lost: your work travels through seeds. To change it, let Tequio open a port on the router in Settings, Network, or forward TCP port {port} to this computer there.</source>
        <translation>ルーターが間にあるため、ほかのコンピューターはこのコンピューターに接続できません。失われるものはありません。作業はシードを経由して届きます。変更するには、「設定」の「ネットワーク」でTequioにルーターのポートを開かせるか、ルーターでTCPポート{port}をこのコンピューターに転送してください。</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, probably because of a firewall. Nothing is lost: your work travels through seeds. To change it, allow incoming connections to TCP port {port}.</source>
        <translation>おそらくファイアウォールのため、ほかのコンピューターはこのコンピューターに接続できません。失われるものはありません。作業はシードを経由して届きます。変更するには、TCPポート{port}への受信接続を許可してください。</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one yet. Tequio is asking your router to open a port.</source>
        <translation>ほかのコンピューターはまだこのコンピューターに接続できません。Tequioがルーターにポートを開くよう依頼しています。</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, although your router has opened a port: another router or a firewall is in between. Nothing is lost: your work travels through seeds.</source>
        <translation>ルーターはポートを開きましたが、別のルーターまたはファイアウォールが間にあるため、ほかのコンピューターはこのコンピューターに接続できません。失われるものはありません。作業はシードを経由して届きます。</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, and no router answers by UPnP or NAT-PMP. Nothing is lost: your work travels through seeds. To change it, switch UPnP on in your router, or forward TCP port {port} to this computer there.</source>
        <translation>ほかのコンピューターはこのコンピューターに接続できません。UPnPまたはNAT-PMPで応答するルーターもありません。失われるものはありません。作業はシードを経由して届きます。変更するには、ルーターでUPnPをオンにするか、TCPポート{port}をこのコンピューターに転送してください。</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, and your router refused to open a port ({problem}). Nothing is lost: your work travels through seeds. To change it, forward TCP port {port} to this computer in your router.</source>
        <translation>ほかのコンピューターはこのコンピューターに接続できません。ルーターがポートを開くことを拒否しました（{problem}）。失われるものはありません。作業はシードを経由して届きます。変更するには、ルーターでTCPポート{port}をこのコンピューターに転送してください。</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, because your router is behind another one: your provider's, or your building's. Nothing is lost: your work travels through seeds. Only your provider can change it, with a public address.</source>
        <translation>ルーターが別のルーター（プロバイダーまたは建物のもの）の内側にあるため、ほかのコンピューターはこのコンピューターに接続できません。失われるものはありません。作業はシードを経由して届きます。変更できるのはプロバイダーだけで、パブリックアドレスが必要です。</translation>
    </message>
    <message>
        <source>Other members can still connect directly, when a seed introduces you to each other.</source>
        <translation>それでも、シードが互いを紹介すれば、ほかのメンバーは直接接続できます。</translation>
    </message>
    <message>
        <source>Seeds cannot introduce you to other members, because your router gives each connection another port.</source>
        <translation>ルーターが接続ごとに別のポートを割り当てるため、シードはほかのメンバーを紹介できません。</translation>
    </message>
    <message>
        <source>An event that this version does not know ({code}).</source>
        <translation>このバージョンが認識しないイベント（{code}）。</translation>
    </message>
    <message>
        <source>for a reason that this version does not know ({reason})</source>
        <translation>このバージョンが認識しない理由（{reason}）</translation>
    </message>
    <message>
        <source>Pending</source>
        <translation>保留中</translation>
    </message>
    <message>
        <source>Verified</source>
        <translation>検証済み</translation>
    </message>
    <message>
        <source>Rejected</source>
        <translation>不採用</translation>
    </message>
    <message>
        <source>the round is void; its work is assigned again</source>
        <translation>ラウンドは無効になり、作業は割り当て直されます</translation>
    </message>
    <message>
        <source>the round ended without your work</source>
        <translation>あなたの作業なしでラウンドが終わりました</translation>
    </message>
    <message>
        <source>too few witnesses received your work in time; this does not count against you</source>
        <translation>時間内に作業を受け取った検証者が少なすぎました（不利にはなりません）</translation>
    </message>
    <message>
        <source>you were not asked to do anything that earns points</source>
        <translation>ポイントになる作業の割り当てはありませんでした</translation>
    </message>
    <message>
        <source>the round ended without your audit</source>
        <translation>あなたの監査なしでラウンドが終わりました</translation>
    </message>
    <message>
        <source>the witnesses gave no reason</source>
        <translation>検証者は理由を示していません</translation>
    </message>
    <message>
        <source>the contribution had the wrong length</source>
        <translation>更新データの長さが正しくありませんでした</translation>
    </message>
    <message>
        <source>the contribution was not in the right format</source>
        <translation>更新データの形式が正しくありませんでした</translation>
    </message>
    <message>
        <source>the contribution was in a format of another version</source>
        <translation>更新データが別のバージョンの形式でした</translation>
    </message>
    <message>
        <source>the contribution did not have the shape of the model</source>
        <translation>更新データの形がモデルと一致しませんでした</translation>
    </message>
    <message>
        <source>the contribution had marks that are not allowed</source>
        <translation>更新データに許可されない印がありました</translation>
    </message>
    <message>
        <source>the contribution was for another run</source>
        <translation>更新データが別の学習プロジェクトのものでした</translation>
    </message>
    <message>
        <source>the contribution was for another round</source>
        <translation>更新データが別のラウンドのものでした</translation>
    </message>
    <message>
        <source>the work began from another version of the model</source>
        <translation>作業が別のバージョンのモデルから始まっていました</translation>
    </message>
    <message>
        <source>the contribution named another trainer</source>
        <translation>更新データに別のトレーナーが記されていました</translation>
    </message>
    <message>
        <source>the work used other text than was given out</source>
        <translation>割り当てと異なるテキストが使われました</translation>
    </message>
    <message>
        <source>the number of tokens was not what was given out</source>
        <translation>トークン数が割り当てと異なりました</translation>
    </message>
    <message>
        <source>the number of steps was not what was given out</source>
        <translation>ステップ数が割り当てと異なりました</translation>
    </message>
    <message>
        <source>the bytes were not those that were promised</source>
        <translation>バイト列が約束されたものと異なりました</translation>
    </message>
    <message>
        <source>a scale in the contribution was not allowed</source>
        <translation>更新データに許可されないスケールがありました</translation>
    </message>
    <message>
        <source>the contribution had something where there must be nothing</source>
        <translation>更新データの空であるべき場所に内容がありました</translation>
    </message>
    <message>
        <source>a block of the contribution had too many or too few values</source>
        <translation>更新データのブロックの値が多すぎるか少なすぎました</translation>
    </message>
    <message>
        <source>the contribution named a place outside of the model</source>
        <translation>更新データがモデルの外の位置を指していました</translation>
    </message>
    <message>
        <source>the places in the contribution were out of order</source>
        <translation>更新データの位置の順序が正しくありませんでした</translation>
    </message>
    <message>
        <source>a value in the contribution was not allowed</source>
        <translation>更新データに許可されない値がありました</translation>
    </message>
    <message>
        <source>the contribution was empty</source>
        <translation>更新データが空でした</translation>
    </message>
    <message>
        <source>the commitment was made without the contribution</source>
        <translation>更新データなしでコミットメントが作られました</translation>
    </message>
    <message>
        <source>the contribution was far larger than the others</source>
        <translation>更新データがほかよりもはるかに大きい値でした</translation>
    </message>
    <message>
        <source>the contribution pointed away from what the witnesses measured themselves</source>
        <translation>更新データの向きが、検証者自身の測定と逆でした</translation>
    </message>
    <message>
        <source>the contribution was nearly the same as an earlier one</source>
        <translation>更新データが以前のものとほぼ同じでした</translation>
    </message>
    <message>
        <source>new</source>
        <translation>新規</translation>
    </message>
    <message>
        <source>active</source>
        <translation>有効</translation>
    </message>
    <message>
        <source>under watch, and trains on as before</source>
        <translation>観察対象（学習はこれまでどおり続きます）</translation>
    </message>
    <message>
        <source>quarantined: it serves the swarm, and does not train until that is over</source>
        <translation>隔離中（データの配信は続け、終わるまで学習しません）</translation>
    </message>
    <message>
        <source>on probation, and trains again</source>
        <translation>観察期間（再び学習しています）</translation>
    </message>
    <message>
        <source>banned, and in no roster any more</source>
        <translation>利用禁止（名簿に載りません）</translation>
    </message>
    <message>
        <source>revoked: it can do nothing more</source>
        <translation>失効（もう何もできません）</translation>
    </message>
    <message>
        <source>replaced by another key, and can do nothing more</source>
        <translation>別のキーに置き換え済み（もう何もできません）</translation>
    </message>
    <message>
        <source>enough contributions were accepted</source>
        <translation>十分な数の更新データが受け入れられた</translation>
    </message>
    <message>
        <source>signed two different commitments for one round</source>
        <translation>1つのラウンドに2つの異なるコミットメントを署名した</translation>
    </message>
    <message>
        <source>signed two different statements under one number</source>
        <translation>同じ番号で2つの異なるステートメントに署名した</translation>
    </message>
    <message>
        <source>signed a contribution header that breaks a rule</source>
        <translation>ルールに反する更新データのヘッダーに署名した</translation>
    </message>
    <message>
        <source>committed to bytes that break a rule</source>
        <translation>ルールに反するバイト列をコミットした</translation>
    </message>
    <message>
        <source>signed a witness proof without having been elected</source>
        <translation>検証者に選ばれずに検証証明に署名した</translation>
    </message>
    <message>
        <source>signed an invalid witness proof</source>
        <translation>無効な検証証明に署名した</translation>
    </message>
    <message>
        <source>vouched for a contribution without having its bytes</source>
        <translation>バイト列を持たないまま貢献を保証した</translation>
    </message>
    <message>
        <source>a contribution was far from the others, according to two witnesses</source>
        <translation>2人の検証者によると、更新データがほかと大きく異なっていた</translation>
    </message>
    <message>
        <source>witness proofs were contradicted by the other witnesses</source>
        <translation>検証証明がほかの検証者に否定された</translation>
    </message>
    <message>
        <source>the term of a quarantine is over</source>
        <translation>隔離期間が終わった</translation>
    </message>
    <message>
        <source>no organiser answered an appeal in time</source>
        <translation>時間内に異議申し立てに回答した主催者がいなかった</translation>
    </message>
    <message>
        <source>accused somebody of a fault that the evidence does not show</source>
        <translation>証拠が示していない違反を指摘した</translation>
    </message>
    <message>
        <source>a contribution was not the training that it claimed, as its auditors agree</source>
        <translation>監査者が一致して、更新データは申告された学習によるものではないと判断した</translation>
    </message>
    <message>
        <source>an audit was contradicted by the other auditors</source>
        <translation>監査がほかの監査者に否定された</translation>
    </message>
    <message>
        <source>further audits were contradicted by the other auditors</source>
        <translation>さらに監査がほかの監査者に否定された</translation>
    </message>
    <message>
        <source>was there, and did not open contributions to their auditors</source>
        <translation>在席していたのに、監査者に更新データを開示しなかった</translation>
    </message>
    <message>
        <source>contributions did not help more on their own windows than on others, according to the witnesses of many rounds</source>
        <translation>多くのラウンドの検証者によると、更新データは自分のウィンドウに対してほかより役立っていなかった</translation>
    </message>
    <message>
        <source>it was not in the run in that round</source>
        <translation>そのラウンドには参加していませんでした</translation>
    </message>
    <message>
        <source>it has not read an earlier audit of that work</source>
        <translation>その作業の以前の監査を読んでいません</translation>
    </message>
    <message>
        <source>it no longer has the model of that round, or its copy is damaged</source>
        <translation>そのラウンドのモデルがもうないか、コピーが壊れています</translation>
    </message>
    <message>
        <source>the data did not arrive in time</source>
        <translation>データが時間内に届きませんでした</translation>
    </message>
    <message>
        <source>the training program could not repeat it</source>
        <translation>学習プログラムが再計算できませんでした</translation>
    </message>
    <message>
        <source>the disk could not be written</source>
        <translation>ディスクに書き込めませんでした</translation>
    </message>
    <message>
        <source>Auditing</source>
        <translation>監査中</translation>
    </message>
    <message>
        <source>Repeating another volunteer's work of round {round}. You are paid as for training.</source>
        <translation>別のボランティアのラウンド{round}の作業を再計算しています。報酬は学習と同じです。</translation>
    </message>
</context>
</TS>
