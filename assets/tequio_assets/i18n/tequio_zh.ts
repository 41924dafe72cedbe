<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh">
<context>
    <name>ActivityPage</name>
    <message>
        <source>View</source>
        <translation>视图</translation>
    </message>
    <message>
        <source>Timeline</source>
        <translation>时间线</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>日志</translation>
    </message>
    <message>
        <source>Health</source>
        <translation>健康状况</translation>
    </message>
    <message>
        <source>What happened here, newest first. It is kept on this computer only.</source>
        <translation>这台电脑上发生的事，最新的在前。仅保存在本机。</translation>
    </message>
    <message>
        <source>Activity</source>
        <translation>活动</translation>
    </message>
</context>
<context>
    <name>AnyRow</name>
    <message>
        <source>Chosen</source>
        <translation>已选择</translation>
    </message>
    <message>
        <source>Choose for me</source>
        <translation>自动选择</translation>
    </message>
    <message>
        <source>A run that fits, with places free</source>
        <translation>合适且有空位的训练任务</translation>
    </message>
</context>
<context>
    <name>AppCompetitionsPage</name>
    <message>
        <source>Runs compete on unseen text.</source>
        <translation>各训练任务在从未见过的文本上一较高下。</translation>
    </message>
    <message>
        <source>Competitions</source>
        <translation>竞赛</translation>
    </message>
    <message>
        <source>Join this run</source>
        <translation>加入此训练任务</translation>
    </message>
    <message>
        <source>Stay on this run</source>
        <translation>留在此训练任务</translation>
    </message>
    <message>
        <source>Runs compete on unseen text. Updated {ago}.</source>
        <translation>各训练任务在从未见过的文本上一较高下。列表读取于{ago}。</translation>
    </message>
    <message>
        <source>{problem}. Tequio will keep trying.</source>
        <translation>{problem}。Tequio 会继续尝试。</translation>
    </message>
    <message>
        <source>Couldn't load the list</source>
        <translation>无法加载列表</translation>
    </message>
    <message>
        <source>No competition yet</source>
        <translation>还没有竞赛</translation>
    </message>
    <message>
        <source>Organisers open one so that runs can be compared. It'll appear here, and you'll be notified.</source>
        <translation>组织者会开启竞赛，让训练任务相互比较。竞赛开启后会显示在这里，并发送通知。</translation>
    </message>
    <message>
        <source>Looking for competitions</source>
        <translation>正在查找竞赛</translation>
    </message>
    <message>
        <source>Asking the network which competitions there are.</source>
        <translation>正在向账本查询有哪些竞赛。</translation>
    </message>
</context>
<context>
    <name>AppModel</name>
    <message>
        <source>The network does not answer</source>
        <translation>网络没有响应</translation>
    </message>
    <message>
        <source>The network does not answer. It may still accept the request later</source>
        <translation>网络没有响应。它之后仍可能接受该请求</translation>
    </message>
</context>
<context>
    <name>AppealControl</name>
    <message>
        <source>Appeal…</source>
        <translation>申诉…</translation>
    </message>
    <message>
        <source>Your appeal is in log entry {entry} and waits for the organisers.</source>
        <translation>您的申诉是日志条目 {entry}，正在等待组织者处理。</translation>
    </message>
    <message>
        <source>Restricted by log entry {entry}: {why}.</source>
        <translation>受限于日志条目 {entry}：{why}。</translation>
    </message>
</context>
<context>
    <name>AppealDialog</name>
    <message>
        <source>Appeal</source>
        <translation>申诉</translation>
    </message>
    <message>
        <source>An organiser reviews what your key is accused of. You can appeal once a day. If nobody answers within 14 days, a quarantine turns into probation.</source>
        <translation>组织者会复核对您密钥的指控。每天可申诉一次。如果 14 天内无人答复，隔离将转为观察期。</translation>
    </message>
    <message>
        <source>Send the appeal</source>
        <translation>提交申诉</translation>
    </message>
    <message>
        <source>What happened (optional)</source>
        <translation>情况说明（可选）</translation>
    </message>
    <message>
        <source>The text is public and permanent: no names, addresses or passwords.</source>
        <translation>这段文字会永久公开：请勿填写姓名、地址或密码。</translation>
    </message>
    <message>
        <source>The text has {length} bytes, at most {most} are allowed: shorten it.</source>
        <translation>文字有 {length} 字节，最多允许 {most} 字节：请缩短。</translation>
    </message>
</context>
<context>
    <name>AuditNotice</name>
    <message>
        <source>Another volunteer repeated your work of round {round}, and the results differ slightly more than usual. Your work counts, and you lose nothing. Unusual hardware, overclocking or an old driver can cause this; measuring the device shows whether it works as fast as before.</source>
        <translation>另一位志愿者复算了您在第 {round} 轮的工作，结果的差异略大于平常。您的工作有效，没有任何损失。特殊硬件、超频或旧驱动都可能造成这种情况；重新测速可以看出设备是否仍和以前一样快。</translation>
    </message>
    <message>
        <source>Pause to measure</source>
        <translation>暂停后测速</translation>
    </message>
    <message>
        <source>Measure again</source>
        <translation>重新测速</translation>
    </message>
</context>
<context>
    <name>BackupDialog</name>
    <message>
        <source>Back up your key</source>
        <translation>备份密钥</translation>
    </message>
    <message>
        <source>Anyone with this key has your points. If this disk fails, only a backup helps.</source>
        <translation>谁拿到这把密钥，谁就拥有您的积分。如果这块磁盘损坏，只有备份能挽回。</translation>
    </message>
    <message>
        <source>Kind of backup</source>
        <translation>备份类型</translation>
    </message>
    <message>
        <source>24 words</source>
        <translation>24 个单词</translation>
    </message>
    <message>
        <source>A file</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>The file is sealed under a passphrase. Keep the two in different places, away from this computer.</source>
        <translation>文件用密码短语加密。请把两者分开存放，并远离这台电脑。</translation>
    </message>
    <message>
        <source>Save the file…</source>
        <translation>保存文件…</translation>
    </message>
    <message>
        <source>Show the words</source>
        <translation>显示单词</translation>
    </message>
    <message>
        <source>I have written them down</source>
        <translation>我已抄写好</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>完成</translation>
    </message>
    <message>
        <source>Save the backup</source>
        <translation>保存备份</translation>
    </message>
</context>
<context>
    <name>BackupSource</name>
    <message>
        <source>Kind of backup</source>
        <translation>备份类型</translation>
    </message>
    <message>
        <source>24 words</source>
        <translation>24 个单词</translation>
    </message>
    <message>
        <source>A file</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>The 24 words, in their order</source>
        <translation>按顺序输入 24 个单词</translation>
    </message>
    <message>
        <source>Choose the file…</source>
        <translation>选择文件…</translation>
    </message>
    <message>
        <source>Choose the backup</source>
        <translation>选择备份</translation>
    </message>
</context>
<context>
    <name>BackupWordsPane</name>
    <message>
        <source>Word {number}</source>
        <translation>第 {number} 个单词</translation>
    </message>
    <message>
        <source>To check what you wrote, type two of the words.</source>
        <translation>为确认纸上抄写无误，请输入其中两个单词。</translation>
    </message>
    <message>
        <source>Word {number} does not match. Look at the paper again.</source>
        <translation>第 {number} 个单词不对，请再核对纸上的内容。</translation>
    </message>
    <message>
        <source>Write them on paper in this order: no photo, no cloud. Nobody from Tequio will ever ask for them.</source>
        <translation>请按此顺序抄写在纸上：不要拍照，不要存到云端。Tequio 的任何人都不会向您索要这些单词。</translation>
    </message>
</context>
<context>
    <name>BadgesCard</name>
    <message>
        <source>Badges</source>
        <translation>徽章</translation>
    </message>
    <message>
        <source>Each badge opens the entry of the public log that proves it.</source>
        <translation>点击徽章即可打开公开日志中作为证明的条目。</translation>
    </message>
    <message numerus="yes">
        <source>Current streak: %n day(s) in a row with accepted work.</source>
        <translation>
            <numerusform>当前连续记录：连续 %n 天有工作被接受。</numerusform>
        </translation>
    </message>
    <message>
        <source>No accepted work today (UTC) yet.</source>
        <translation>今天（UTC）的还没有。</translation>
    </message>
    <message>
        <source>No streak: no work was accepted lately.</source>
        <translation>没有连续记录：最近没有工作被接受。</translation>
    </message>
    <message>
        <source>Next badge: {badge}, {reached} of {needed}</source>
        <translation>下一枚徽章：{badge}，{reached} / {needed}</translation>
    </message>
    <message>
        <source>First round</source>
        <translation>第一轮</translation>
    </message>
    <message>
        <source>A round accepted work of this key for the first time.</source>
        <translation>有一轮首次接受了这把密钥的工作。</translation>
    </message>
    <message>
        <source>{n} rounds</source>
        <translation>{n} 轮</translation>
    </message>
    <message>
        <source>{n} rounds accepted work of this key.</source>
        <translation>已有 {n} 轮接受了这把密钥的工作。</translation>
    </message>
    <message>
        <source>{n} days in a row</source>
        <translation>连续 {n} 天</translation>
    </message>
    <message>
        <source>Work was accepted on {n} days in a row.</source>
        <translation>连续 {n} 天有工作被接受。</translation>
    </message>
    <message>
        <source>1 EFLOP</source>
        <translation>1 EFLOP</translation>
    </message>
    <message>
        <source>This key did 10^18 calculations, which are 100,000 points.</source>
        <translation>这把密钥完成了 10^18 次计算，相当于 100,000 积分。</translation>
    </message>
    <message>
        <source>First audit</source>
        <translation>首次审计</translation>
    </message>
    <message>
        <source>This key repeated another volunteer's work to check it.</source>
        <translation>这把密钥复算过另一位志愿者的工作，以作检验。</translation>
    </message>
    <message>
        <source>Measured a model</source>
        <translation>评测过模型</translation>
    </message>
    <message>
        <source>This key measured how good a model is, on text that nobody trains on.</source>
        <translation>这把密钥用无人训练过的文本评测过模型的优劣。</translation>
    </message>
    <message>
        <source>Judged a competition</source>
        <translation>评审过竞赛</translation>
    </message>
    <message>
        <source>This key scored a model in a competition.</source>
        <translation>这把密钥在竞赛中为模型评过分。</translation>
    </message>
</context>
<context>
    <name>BenchmarkRow</name>
    <message>
        <source>Benchmark</source>
        <translation>性能测试</translation>
    </message>
    <message>
        <source>Measure</source>
        <translation>测速</translation>
    </message>
    <message>
        <source>Measure again</source>
        <translation>重新测速</translation>
    </message>
    <message>
        <source>Measuring</source>
        <translation>正在测速</translation>
    </message>
    <message>
        <source>Trains a small model for a few seconds.</source>
        <translation>用几秒钟训练一个小模型。</translation>
    </message>
    <message>
        <source>Not measured: {why}.</source>
        <translation>未测速：{why}。</translation>
    </message>
    <message>
        <source>Trains a small model for a few seconds and says how fast this device is.</source>
        <translation>用几秒钟训练一个小模型，得出这台设备的速度。</translation>
    </message>
    <message>
        <source>Switch the device off first to get a meaningful result.</source>
        <translation>请先关闭该设备的贡献，结果才有意义。</translation>
    </message>
    <message>
        <source>{tokens} tokens per second</source>
        <translation>每秒 {tokens} token</translation>
    </message>
    <message>
        <source>{memory} of memory</source>
        <translation>{memory} 内存</translation>
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
        <translation>网络没有此页面的图片（{problem}）。请改为复制链接。</translation>
    </message>
    <message>
        <source>The picture could not be fetched ({problem}). Check your connection, and try again.</source>
        <translation>未能获取图片（{problem}）。请检查您的连接，然后重试。</translation>
    </message>
    <message>
        <source>{file} was not written: {why}. Choose another place, or try again.</source>
        <translation>{file} 未能写入：{why}。请换个位置，或重试。</translation>
    </message>
</context>
<context>
    <name>ChatCard</name>
    <message>
        <source>Try the model</source>
        <translation>试用模型</translation>
    </message>
    <message>
        <source>What you and the model wrote</source>
        <translation>您和模型写的内容</translation>
    </message>
    <message>
        <source>The newest model answers here if it was trained on conversations, and otherwise continues what you write. Early in a run that is gibberish; it improves round by round. Its words are generated; they are not anyone's opinion.</source>
        <translation>如果最新的模型用对话训练过，它会在这里回答；否则会续写您写的内容。训练任务初期写出的内容没有意义，但会逐轮改善。文字由模型生成，不代表任何人的观点。</translation>
    </message>
    <message>
        <source>Preparing the model</source>
        <translation>正在准备模型</translation>
    </message>
    <message>
        <source>Your text</source>
        <translation>您的文字</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>发送</translation>
    </message>
    <message>
        <source>New conversation</source>
        <translation>新对话</translation>
    </message>
    <message>
        <source>The model needs what training needs, which is not installed yet.</source>
        <translation>运行模型需要训练所需的组件，目前还没有安装。</translation>
    </message>
    <message>
        <source>{program} has priority now. The model can answer once it is closed.</source>
        <translation>现在 {program} 优先。它关闭后，模型才能回答。</translation>
    </message>
    <message>
        <source>The newest model is not on this computer yet. It comes with the next round that you take part in, or you download it now.</source>
        <translation>这台电脑上还没有最新的模型。它会随您参加的下一轮到来，您也可以现在下载。</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>下载</translation>
    </message>
    <message>
        <source>There is not enough memory: the model needs about {needed}, and {free} are free. Close other programs, then try again.</source>
        <translation>内存不足：模型约需 {needed}，可用的只有 {free}。请关闭其他程序后再试。</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>The model could not be started, or stopped working.</source>
        <translation>模型无法启动，或已停止工作。</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Ask something, or begin a text</source>
        <translation>提问，或写一段开头</translation>
    </message>
    <message>
        <source>Ask something</source>
        <translation>提问</translation>
    </message>
    <message>
        <source>Begin a text</source>
        <translation>写一段开头</translation>
    </message>
    <message>
        <source>Downloading the newest model: {done} of {total}</source>
        <translation>正在下载最新的模型：{done}/{total}</translation>
    </message>
    <message>
        <source>Preparing the newest model, checked against the public log…</source>
        <translation>正在准备最新的模型，并与公开日志核对…</translation>
    </message>
    <message>
        <source>The model of round {number} runs on this computer's processor.</source>
        <translation>第 {number} 轮的模型在这台电脑的处理器上运行。</translation>
    </message>
    <message>
        <source>The model of round {number} runs on this computer's processor, slower while it also trains.</source>
        <translation>第 {number} 轮的模型在这台电脑的处理器上运行，同时训练时会慢一些。</translation>
    </message>
    <message>
        <source>The model is closed. Your next question starts it again; it will not remember this conversation.</source>
        <translation>模型已关闭。下一个问题会重新启动它，但它不会记得这次对话。</translation>
    </message>
    <message>
        <source>It runs on this computer's processor; nothing is sent anywhere.</source>
        <translation>它在这台电脑的处理器上运行，不会向外发送任何内容。</translation>
    </message>
</context>
<context>
    <name>CheckRow</name>
    <message>
        <source>Not available on this system</source>
        <translation>此系统不支持</translation>
    </message>
    <message>
        <source>OK</source>
        <translation>正常</translation>
    </message>
    <message>
        <source>Checking…</source>
        <translation>正在检查…</translation>
    </message>
    <message>
        <source>Unknown</source>
        <translation>未知</translation>
    </message>
</context>
<context>
    <name>CheckStep</name>
    <message>
        <source>Can this computer take part?</source>
        <translation>这台电脑能参与吗？</translation>
    </message>
    <message>
        <source>Takes five seconds at most. Checks this computer and asks the network which runs are open.</source>
        <translation>最多五秒。检查这台电脑，并向网络查询有哪些开放的训练任务。</translation>
    </message>
    <message>
        <source>Check again</source>
        <translation>再次检查</translation>
    </message>
</context>
<context>
    <name>ChildTransport</name>
    <message>
        <source>The worker was ended from outside ({code}).</source>
        <translation>工作进程被外部终止（{code}）。</translation>
    </message>
    <message>
        <source>The worker has ended ({code}).</source>
        <translation>工作进程已结束（{code}）。</translation>
    </message>
</context>
<context>
    <name>CodeConsentDialog</name>
    <message>
        <source>Allow the code of {run}?</source>
        <translation>允许 {run} 的代码吗？</translation>
    </message>
    <message>
        <source>This run brings code that is not part of Tequio. It was written or chosen by the run's organisers ({keys}).</source>
        <translation>此训练任务自带不属于 Tequio 的代码。代码由训练任务的组织者（{keys}）编写或选择。</translation>
    </message>
    <message>
        <source>Allow this code</source>
        <translation>允许此代码</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>暂不</translation>
    </message>
    <message>
        <source>I trust the author of this code</source>
        <translation>我信任此代码的作者</translation>
    </message>
    <message>
        <source>{name} {version}, {size}, archive {archive}</source>
        <translation>{name} {version}，{size}，归档 {archive}</translation>
    </message>
    <message>
        <source>It runs in the trainer: it computes on your device, and reads what belongs to the run.</source>
        <translation>代码在训练者进程中运行：它在您的设备上计算，并读取训练任务的数据。</translation>
    </message>
    <message>
        <source>It makes what your key signs in this run. Bad code can cost points, or your key's standing.</source>
        <translation>您的密钥在此训练任务中签名的内容由它生成。有问题的代码可能使您损失积分或密钥的信誉。</translation>
    </message>
    <message>
        <source>Your consent is for these exact bytes. A new version asks again; you can take the consent back here at any time.</source>
        <translation>您的同意仅针对这些确切的字节。新版本会再次询问；您可以随时在此撤回同意。</translation>
    </message>
    <message>
        <source>The sandbox keeps it from your key, your home folder, the network and other programs.</source>
        <translation>沙盒使它无法访问您的密钥、主文件夹、网络和其他程序。</translation>
    </message>
    <message>
        <source>This computer has no sandbox for it: it could read your files and your key, and use the network.</source>
        <translation>此计算机没有可用的沙盒：它可能读取您的文件和密钥，并使用网络。</translation>
    </message>
</context>
<context>
    <name>CommandsCard</name>
    <message>
        <source>In other programs</source>
        <translation>在其他程序中使用</translation>
    </message>
    <message>
        <source>Export the model</source>
        <translation>导出模型</translation>
    </message>
    <message>
        <source>In a terminal, the first command exports the newest model as a GGUF file, which works for Llama, Mistral and Qwen models. The second line runs it in llama.cpp, the third in Ollama.</source>
        <translation>在终端中，第一条命令把最新的模型导出为 GGUF 文件，适用于 Llama、Mistral 和 Qwen 模型。第二行在 llama.cpp 中运行它，第三行在 Ollama 中运行。</translation>
    </message>
</context>
<context>
    <name>CompetitionChoice</name>
    <message>
        <source>Way to the result</source>
        <translation>评定进程</translation>
    </message>
    <message numerus="yes">
        <source>%n entrant(s)</source>
        <translation>
            <numerusform>%n 个参赛方</numerusform>
        </translation>
    </message>
    <message>
        <source>{time} {goal}</source>
        <translation>{goal} {time}</translation>
    </message>
    <message>
        <source>First place: {names}</source>
        <translation>第一名：{names}</translation>
    </message>
</context>
<context>
    <name>CompetitionFigures</name>
    <message>
        <source>Your points</source>
        <translation>您的积分</translation>
    </message>
    <message>
        <source>Entrants</source>
        <translation>参赛方</translation>
    </message>
    <message>
        <source>Texts</source>
        <translation>文本</translation>
    </message>
    <message>
        <source>Evaluators</source>
        <translation>评测者</translation>
    </message>
    <message>
        <source>{points} points in the runs of its entrants</source>
        <translation>在所属参赛方的训练任务中获得 {points} 积分</translation>
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
            <numerusform>在允许贡献时，这台电脑会为 %n 个模型评分。</numerusform>
        </translation>
    </message>
    <message>
        <source>You were drawn to judge {name}</source>
        <translation>您被抽中评审 {name}</translation>
    </message>
    <message>
        <source>You have judged {name}</source>
        <translation>{name} 已评审完毕</translation>
    </message>
    <message>
        <source>All your scores are in the log. See how the entrants are doing.</source>
        <translation>您的评分已全部写入日志。来看看各方的排名。</translation>
    </message>
    <message>
        <source>{sides} compete until {time}. See the rules, and join one of them.</source>
        <translation>{sides}比拼至 {time}。查看规则并加入一方。</translation>
    </message>
    <message>
        <source>{name} has begun</source>
        <translation>{name} 已开始</translation>
    </message>
    <message>
        <source>{name}: {time} until the deadline</source>
        <translation>{name}：距截止还有 {time}</translation>
    </message>
    <message>
        <source>Nothing submitted after it counts. See how the entrants are doing.</source>
        <translation>之后提交的一概不算。来看看各方的排名。</translation>
    </message>
    <message>
        <source>{name} is decided</source>
        <translation>{name} 结果已出</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>训练任务</translation>
    </message>
    <message numerus="yes">
        <source>{name} and %n other(s)</source>
        <translation>
            <numerusform>{name} 和另外 %n 个</numerusform>
        </translation>
    </message>
    <message>
        <source>{names} and {last}</source>
        <translation>{names} 和 {last}</translation>
    </message>
    <message>
        <source>It ended without a ranking. See the reason and the scores.</source>
        <translation>竞赛结束，没有排名。查看原因和评分。</translation>
    </message>
    <message>
        <source>First: {names}, with {score} bits per byte of text (perplexity {perplexity} per byte).</source>
        <translation>第一名：{names}，每字节文本 {score} 比特（每字节困惑度 {perplexity}）。</translation>
    </message>
</context>
<context>
    <name>CompetitionSummaryCard</name>
    <message>
        <source>Open the ledger's page</source>
        <translation>打开账本的页面</translation>
    </message>
</context>
<context>
    <name>ConnectControl</name>
    <message>
        <source>Link…</source>
        <translation>关联…</translation>
    </message>
    <message>
        <source>Linked</source>
        <translation>已关联</translation>
    </message>
    <message>
        <source>Invited</source>
        <translation>受邀</translation>
    </message>
</context>
<context>
    <name>ConnectDialog</name>
    <message>
        <source>Link an account</source>
        <translation>关联账号</translation>
    </message>
    <message>
        <source>Some runs ask for it. The public log then shows that a person is behind your key, and which keys are theirs, but not who it is.</source>
        <translation>有些训练任务要求关联账号。公开日志会显示您的密钥背后是真人，以及此人拥有哪些密钥，但不会显示此人是谁。</translation>
    </message>
    <message>
        <source>Get a code</source>
        <translation>获取验证码</translation>
    </message>
    <message>
        <source>Address of the connector</source>
        <translation>连接服务的地址</translation>
    </message>
    <message>
        <source>Provider, if it has several</source>
        <translation>提供方（如有多个）</translation>
    </message>
    <message>
        <source>The organisers of the network name connectors that they trust.</source>
        <translation>网络的组织者会公布他们信任的连接服务。</translation>
    </message>
    <message>
        <source>Code</source>
        <translation>验证码</translation>
    </message>
    <message>
        <source>Open the page</source>
        <translation>打开页面</translation>
    </message>
    <message>
        <source>Never share this code, and never enter one that somebody else gave you.</source>
        <translation>切勿分享此验证码，也切勿输入别人给的验证码。</translation>
    </message>
    <message>
        <source>Enter this code</source>
        <translation>输入此验证码</translation>
    </message>
    <message>
        <source>At {url}, signed in with your account there.</source>
        <translation>登录您的账号后，在 {url} 输入。</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>The code was not used in time. Open this dialog again.</source>
        <translation>验证码未能及时使用。请重新打开此对话框。</translation>
    </message>
</context>
<context>
    <name>ConsentCard</name>
    <message>
        <source>{traffic} GB of traffic a month</source>
        <translation>每月 {traffic} GB 流量</translation>
    </message>
    <message>
        <source>I lend this computer to Tequio as chosen here: it may use the graphics card, the processor, up to {disk} GB of disk, {traffic}, and the power that takes. I am allowed to decide this for this computer.</source>
        <translation>我同意按此处的选择把这台电脑贡献给 Tequio：可以使用显卡、处理器、最多 {disk} GB 磁盘、{traffic}，以及由此产生的用电。我有权为这台电脑作此决定。</translation>
    </message>
    <message>
        <source>traffic without a limit</source>
        <translation>不限流量</translation>
    </message>
    <message>
        <source>I agree</source>
        <translation>我同意</translation>
    </message>
    <message>
        <source>You can pause, change or stop at any time.</source>
        <translation>可以随时暂停、更改或停止。</translation>
    </message>
</context>
<context>
    <name>Conversation</name>
    <message>
        <source>The worker sent an invalid message ({problem}).</source>
        <translation>工作进程发来了无效消息（{problem}）。</translation>
    </message>
    <message>
        <source>The worker is still being started.</source>
        <translation>工作进程仍在启动。</translation>
    </message>
    <message>
        <source>The worker has not answered in time.</source>
        <translation>工作进程未能及时响应。</translation>
    </message>
    <message>
        <source>The worker has not answered in time. It may still carry out the request.</source>
        <translation>工作进程未能及时响应。它仍可能执行该请求。</translation>
    </message>
    <message>
        <source>The worker does not answer any more.</source>
        <translation>工作进程不再响应。</translation>
    </message>
</context>
<context>
    <name>CopyLine</name>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Copy: {name}</source>
        <translation>复制：{name}</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>已复制</translation>
    </message>
</context>
<context>
    <name>CostCard</name>
    <message>
        <source>Hours per day</source>
        <translation>每天时长</translation>
    </message>
    <message numerus="yes">
        <source>%n hour(s)</source>
        <translation>
            <numerusform>%n 小时</numerusform>
        </translation>
    </message>
    <message>
        <source>Price per kWh</source>
        <translation>每度电（kWh）价格</translation>
    </message>
    <message>
        <source>not entered</source>
        <translation>未填写</translation>
    </message>
    <message>
        <source>What it costs in power</source>
        <translation>电费估算</translation>
    </message>
    <message>
        <source>while it trains</source>
        <translation>训练时</translation>
    </message>
    <message>
        <source>{energy} kWh</source>
        <translation>{energy} kWh</translation>
    </message>
    <message>
        <source>per month</source>
        <translation>每月</translation>
    </message>
    <message>
        <source>Checking this computer. Until then, the range covers most graphics cards.</source>
        <translation>正在检测这台电脑。范围取自大多数显卡。</translation>
    </message>
    <message>
        <source>{device}: no graphics card was found. The range covers most processors.</source>
        <translation>{device}：未找到显卡。范围取自处理器。</translation>
    </message>
    <message>
        <source>{device}: from 60% of its power limit to all of it.</source>
        <translation>{device}：功耗上限的 60% 到 100%。</translation>
    </message>
    <message>
        <source>{device} does not report its limit. The range covers most cards.</source>
        <translation>{device} 没有报告功耗上限。范围取自大多数显卡。</translation>
    </message>
    <message>
        <source>For this device only. If your PC would otherwise be asleep, add 40 to 90 W.</source>
        <translation>仅计这台设备。如果电脑原本会休眠，请再加 40 至 90 W。</translation>
    </message>
    <message>
        <source>This is a rough household price: enter yours.</source>
        <translation>这是粗略的家庭电价，请填写您的电价。</translation>
    </message>
</context>
<context>
    <name>DaysCard</name>
    <message>
        <source>Points per day</source>
        <translation>每日积分</translation>
    </message>
    <message>
        <source>30 days</source>
        <translation>30 天</translation>
    </message>
    <message>
        <source>A round trains for about {time} and is checked after that.</source>
        <translation>一轮训练约 {time}，之后进行检验。</translation>
    </message>
    <message>
        <source>{total} points in {days} days; most on {day}: {peak}</source>
        <translation>{days} 天共 {total} 积分；最多的一天是 {day}：{peak}</translation>
    </message>
    <message>
        <source>Your verified points for each day will appear here after your first round.</source>
        <translation>从第一轮开始，每天已验证的积分会显示在这里。</translation>
    </message>
</context>
<context>
    <name>DetailsButton</name>
    <message>
        <source>Details</source>
        <translation>详细信息</translation>
    </message>
</context>
<context>
    <name>DetailsDialog</name>
    <message>
        <source>Details</source>
        <translation>详细信息</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
</context>
<context>
    <name>DeviceCard</name>
    <message>
        <source>Lend {device}</source>
        <translation>贡献 {device}</translation>
    </message>
    <message>
        <source>Role</source>
        <translation>角色</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>Trainer</source>
        <translation>训练者</translation>
    </message>
    <message>
        <source>Witness</source>
        <translation>见证者</translation>
    </message>
    <message>
        <source>Trainers train the model; witnesses check their work. Automatic does both. Default: automatic.</source>
        <translation>训练者训练模型，见证者检验其工作。“自动”两者都做。默认：自动。</translation>
    </message>
    <message>
        <source>While I use the computer</source>
        <translation>使用电脑时</translation>
    </message>
    <message>
        <source>Lends this card also while you use the computer or play on another one. Stops when another program uses it. Default: off.</source>
        <translation>在您使用电脑或用另一块显卡玩游戏时，也贡献这块显卡。其他程序使用它时会停止。默认：关闭。</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>训练任务</translation>
    </message>
    <message>
        <source>The run that this device trains. Two devices of one computer never train the same run. Default: automatic.</source>
        <translation>这台设备训练的任务。同一台电脑的两台设备不会训练同一任务。默认：自动。</translation>
    </message>
    <message>
        <source>Processor</source>
        <translation>处理器</translation>
    </message>
    <message>
        <source>Not known yet</source>
        <translation>尚不清楚</translation>
    </message>
    <message>
        <source>Not readable now</source>
        <translation>目前无法读取</translation>
    </message>
    <message>
        <source>No longer open</source>
        <translation>已不再开放</translation>
    </message>
    <message numerus="yes">
        <source>%n core(s)</source>
        <translation>
            <numerusform>%n 个核心</numerusform>
        </translation>
    </message>
    <message>
        <source>{memory} of memory</source>
        <translation>{memory} 内存</translation>
    </message>
    <message>
        <source>driver {version}</source>
        <translation>驱动 {version}</translation>
    </message>
    <message>
        <source>{run}: round {round} of {rounds}</source>
        <translation>{run}：第 {round} 轮，共 {rounds} 轮</translation>
    </message>
    <message>
        <source>Computing</source>
        <translation>计算中</translation>
    </message>
    <message>
        <source>Computing, {share} of the time</source>
        <translation>计算中，占 {share} 的时间</translation>
    </message>
    <message>
        <source>Between rounds</source>
        <translation>等待下一轮</translation>
    </message>
    <message>
        <source>Starting</source>
        <translation>正在启动</translation>
    </message>
    <message>
        <source>Stopping</source>
        <translation>正在停止</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>Ready</source>
        <translation>就绪</translation>
    </message>
    <message>
        <source>Not lent</source>
        <translation>未贡献</translation>
    </message>
    <message>
        <source>Stops lending now</source>
        <translation>立即停止贡献</translation>
    </message>
</context>
<context>
    <name>DeviceLimits</name>
    <message>
        <source>Share of the time</source>
        <translation>时间占比</translation>
    </message>
    <message>
        <source>How much of the time this device works.</source>
        <translation>这台设备有多少时间在工作。</translation>
    </message>
    <message>
        <source>Usual</source>
        <translation>常规</translation>
    </message>
    <message>
        <source>{memory}, automatic</source>
        <translation>{memory}（自动）</translation>
    </message>
    <message>
        <source>No goal</source>
        <translation>无目标</translation>
    </message>
    <message>
        <source>{threads}, automatic</source>
        <translation>{threads}（自动）</translation>
    </message>
    <message>
        <source>Left to the desktop: 2 GB at least, unless you choose more here.</source>
        <translation>留给桌面使用：除非在此设置更多，否则至少 2 GB。</translation>
    </message>
    <message>
        <source>{free} This card has {total}.</source>
        <translation>{free}这块显卡共有 {total}。</translation>
    </message>
    <message>
        <source>VRAM</source>
        <translation>显存</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>Power goal</source>
        <translation>目标功耗</translation>
    </message>
    <message>
        <source>Kept by resting between steps; the card's own limit is {most}.</source>
        <translation>通过在步骤之间休息来控制；显卡自身的上限是 {most}。</translation>
    </message>
    <message>
        <source>Slows down to stay below this; stops at 5 °C above it.</source>
        <translation>会放慢速度以保持在此温度以下；超出 5 °C 时停止。</translation>
    </message>
    <message>
        <source>Temperature goal</source>
        <translation>目标温度</translation>
    </message>
    <message>
        <source>Of {cores} cores; one stays free unless you choose otherwise.</source>
        <translation>共 {cores} 个核心；除非另行设置，会留出一个。</translation>
    </message>
    <message>
        <source>Threads</source>
        <translation>线程数</translation>
    </message>
</context>
<context>
    <name>EntryPane</name>
    <message>
        <source>How</source>
        <translation>方式</translation>
    </message>
    <message>
        <source>Join with a link</source>
        <translation>通过链接加入</translation>
    </message>
    <message>
        <source>Found a team</source>
        <translation>创建团队</translation>
    </message>
    <message>
        <source>Join link or code of a team</source>
        <translation>团队的加入链接或加入码</translation>
    </message>
    <message>
        <source>Name of the new team</source>
        <translation>新团队的名称</translation>
    </message>
    <message>
        <source>2 to 32 letters of one script and digits. The name is public and stays. You can found one team every 30 days.</source>
        <translation>2 到 32 个同一文字体系的字母和数字。名称公开且不可更改。每 30 天可创建一个团队。</translation>
    </message>
    <message>
        <source>Ask the owner of the team for its link or code.</source>
        <translation>请向团队负责人索取链接或加入码。</translation>
    </message>
</context>
<context>
    <name>ErrorReportDialog</name>
    <message>
        <source>Tequio – a fault</source>
        <translation>Tequio – 出错了</translation>
    </message>
    <message>
        <source>Report</source>
        <translation>报告</translation>
    </message>
    <message>
        <source>Copy report</source>
        <translation>复制报告</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>继续</translation>
    </message>
    <message numerus="yes">
        <source>%n more fault(s) since</source>
        <translation>
            <numerusform>此后又有 %n 个错误</numerusform>
        </translation>
    </message>
    <message>
        <source>Something went wrong in Tequio's window</source>
        <translation>Tequio 的窗口出了问题</translation>
    </message>
    <message>
        <source>Lending is not affected: it runs in a program of its own. Nothing was sent to anybody. If you want to report this, copy the text below; keys and names of your folders were taken out of it.</source>
        <translation>贡献不受影响：它在独立的程序中运行。没有向任何人发送任何信息。如需报告，请复制下面的文字；其中的密钥和文件夹名称已被去除。</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>已复制</translation>
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
        <translation>问题：{words}</translation>
    </message>
</context>
<context>
    <name>ExclusiveList</name>
    <message>
        <source>Add a program</source>
        <translation>添加程序</translation>
    </message>
    <message>
        <source>No programs yet.</source>
        <translation>还没有程序。</translation>
    </message>
    <message>
        <source>{program} was removed from the list.</source>
        <translation>已从列表中移除 {program}。</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>移除</translation>
    </message>
    <message>
        <source>Remove {program}</source>
        <translation>移除 {program}</translation>
    </message>
</context>
<context>
    <name>FirstRun</name>
    <message>
        <source>Back</source>
        <translation>上一步</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>以后再说</translation>
    </message>
    <message>
        <source>Step {number} of {steps}</source>
        <translation>第 {number} 步，共 {steps} 步</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>下一步</translation>
    </message>
    <message>
        <source>You are invited to “{network}”. Step 3 makes your key; then you can join.</source>
        <translation>您受邀加入“{network}”。第 3 步会生成您的密钥，之后即可加入。</translation>
    </message>
    <message>
        <source>You are invited to “{network}”.</source>
        <translation>您受邀加入“{network}”。</translation>
    </message>
    <message>
        <source>Join</source>
        <translation>加入</translation>
    </message>
</context>
<context>
    <name>FolderLine</name>
    <message>
        <source>Folder</source>
        <translation>文件夹</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>Open the folder</source>
        <translation>打开文件夹</translation>
    </message>
</context>
<context>
    <name>HardwarePage</name>
    <message>
        <source>Choose what Tequio may use. Each device that is lent trains a run of its own. Changes apply immediately.</source>
        <translation>选择 Tequio 可以使用的硬件。每台贡献的设备各自训练一个任务。更改立即生效。</translation>
    </message>
    <message>
        <source>Hardware</source>
        <translation>硬件</translation>
    </message>
    <message>
        <source>The worker is being started; its devices will appear here.</source>
        <translation>工作进程正在启动，随后设备会显示在这里。</translation>
    </message>
    <message>
        <source>The hardware is being checked; its devices will appear here.</source>
        <translation>正在检测硬件，随后设备会显示在这里。</translation>
    </message>
    <message>
        <source>The hardware probe is not responding, so the state of the graphics cards is unknown. Nothing is lent until it responds; Tequio restarts it automatically.</source>
        <translation>硬件检测程序没有响应，因此无法得知显卡的状态。在它恢复之前不会贡献算力；Tequio 会自动重启它。</translation>
    </message>
    <message>
        <source>No graphics card was found that can train. The CPU is lent instead. It's slower, but still earns points.</source>
        <translation>没有找到能训练的显卡，改为贡献 CPU。速度较慢，但仍可获得积分。</translation>
    </message>
    <message>
        <source>No graphics card was found that can train. The CPU can be lent instead.</source>
        <translation>没有找到能训练的显卡。可以改为贡献 CPU。</translation>
    </message>
    <message>
        <source>Lend the processor</source>
        <translation>贡献处理器</translation>
    </message>
    <message>
        <source>{device} is no longer lent.</source>
        <translation>{device} 已停止贡献。</translation>
    </message>
</context>
<context>
    <name>HealthView</name>
    <message>
        <source>Your session</source>
        <translation>会话</translation>
    </message>
    <message>
        <source>Nothing is known about your session yet.</source>
        <translation>还没有收到会话的信息。</translation>
    </message>
    <message>
        <source>The hardware is being checked…</source>
        <translation>正在检测硬件…</translation>
    </message>
    <message>
        <source>The hardware probe is not responding. The worker restarts it automatically.</source>
        <translation>硬件检测程序没有响应。工作进程会自动重启它。</translation>
    </message>
    <message>
        <source>This computer</source>
        <translation>这台电脑</translation>
    </message>
    <message numerus="yes">
        <source>All %n check(s) are working.</source>
        <translation>
            <numerusform>全部 %n 项检测均正常。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n check(s) aren't working.</source>
        <translation>
            <numerusform>有 %n 项检测未能工作。</numerusform>
        </translation>
    </message>
    <message>
        <source>If Tequio isn't sure, it stays paused.</source>
        <translation>如果 Tequio 不确定，就会保持暂停。</translation>
    </message>
    <message>
        <source>Some checks have not responded yet.</source>
        <translation>有些检测还没有响应。</translation>
    </message>
</context>
<context>
    <name>HelpDialog</name>
    <message>
        <source>Keyboard and help</source>
        <translation>键盘与帮助</translation>
    </message>
    <message>
        <source>Read this page again</source>
        <translation>重新读取此页</translation>
    </message>
    <message>
        <source>Go to the next control, and use it</source>
        <translation>转到下一个控件并使用它</translation>
    </message>
    <message>
        <source>Search the settings</source>
        <translation>搜索设置</translation>
    </message>
    <message>
        <source>Close the window; Tequio goes on in the tray</source>
        <translation>关闭窗口；Tequio 继续在托盘中运行</translation>
    </message>
    <message>
        <source>Quit, and stop lending</source>
        <translation>退出并停止贡献</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Every command explains itself: tequio --help. Version {version}.</source>
        <translation>每条命令都有说明：tequio --help。版本 {version}。</translation>
    </message>
</context>
<context>
    <name>HomeHeader</name>
    <message>
        <source>Snooze</source>
        <translation>暂停片刻</translation>
    </message>
    <message>
        <source>Finish round, then stop</source>
        <translation>完成本轮后停止</translation>
    </message>
    <message>
        <source>Ends the round under way, so that none of its work is lost.</source>
        <translation>完成正在进行的一轮，不浪费已做的工作。</translation>
    </message>
    <message>
        <source>Go on after this round</source>
        <translation>本轮之后继续</translation>
    </message>
    <message>
        <source>Start now anyway</source>
        <translation>仍然立即开始</translation>
    </message>
    <message>
        <source>Starts although a rule says to wait.</source>
        <translation>虽有规则要求等待，仍会开始。</translation>
    </message>
    <message>
        <source>Change this rule</source>
        <translation>更改此规则</translation>
    </message>
    <message>
        <source>Nothing is lent until this is solved.</source>
        <translation>解决之前不会贡献算力。</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>暂停</translation>
    </message>
    <message>
        <source>Stops at once and gives the device back.</source>
        <translation>立即停止并归还设备。</translation>
    </message>
    <message>
        <source>Set up</source>
        <translation>初始设置</translation>
    </message>
    <message>
        <source>Resume now</source>
        <translation>立即继续</translation>
    </message>
    <message>
        <source>Contribute</source>
        <translation>开始贡献</translation>
    </message>
</context>
<context>
    <name>InvitationDialog</name>
    <message>
        <source>Join</source>
        <translation>加入</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>以后再说</translation>
    </message>
    <message>
        <source>An invitation</source>
        <translation>邀请</translation>
    </message>
    <message>
        <source>Checking this invitation with {ledger}…</source>
        <translation>正在向 {ledger} 核实此邀请…</translation>
    </message>
    <message>
        <source>Join the run “{run}”?</source>
        <translation>加入训练任务“{run}”？</translation>
    </message>
    <message>
        <source>Join the network “{network}”?</source>
        <translation>加入网络“{network}”？</translation>
    </message>
    <message>
        <source>The organisers of the network “{network}” invite you (entry {index} of the log at {ledger}).</source>
        <translation>网络“{network}”的组织者邀请您加入（{ledger} 日志的条目 {index}）。</translation>
    </message>
    <message>
        <source>Make my key</source>
        <translation>生成我的密钥</translation>
    </message>
    <message>
        <source>Your key comes first: it is made in the first steps. Then this question comes again.</source>
        <translation>首先需要密钥：它会在初始步骤中生成，之后会再次询问。</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>This invitation cannot be used</source>
        <translation>此邀请无法使用</translation>
    </message>
    <message>
        <source>Nothing was changed.</source>
        <translation>没有作任何更改。</translation>
    </message>
    <message>
        <source>Joining. This may take a minute.</source>
        <translation>正在加入，可能需要一分钟。</translation>
    </message>
    <message>
        <source>Your key is in this network already and stays as it is; the invitation is not used up.</source>
        <translation>您的密钥已在此网络中，保持不变；邀请不会被消耗。</translation>
    </message>
    <message numerus="yes">
        <source>%n use(s) left, valid until {until}.</source>
        <translation>
            <numerusform>还可使用 %n 次，有效期至 {until}。</numerusform>
        </translation>
    </message>
    <message>
        <source>Everybody can read in the log that this invitation let your key in; the organisers can take it back.</source>
        <translation>任何人都能在日志中看到您的密钥是凭此邀请加入的；组织者可以撤销。</translation>
    </message>
    <message>
        <source>You will lend to this ledger instead of {old}. The settings change it back.</source>
        <translation>您将改为向此账本贡献，而不再是 {old}。可以在设置中改回。</translation>
    </message>
    <message>
        <source>What you have chosen about when and how much to lend holds as before.</source>
        <translation>您已选择的贡献时间和用量保持不变。</translation>
    </message>
    <message>
        <source>Nothing is lent before you have gone through the first steps.</source>
        <translation>在完成初始步骤之前，不会贡献任何算力。</translation>
    </message>
    <message>
        <source>You choose the run, among all of this network.</source>
        <translation>您可以在此网络的所有训练任务中选择。</translation>
    </message>
    <message numerus="yes">
        <source>%n computers are in it now</source>
        <translation>
            <numerusform>现有 %n 台电脑在其中</numerusform>
        </translation>
    </message>
    <message>
        <source>{tokens} tokens were trained so far</source>
        <translation>至今已训练 {tokens} token</translation>
    </message>
    <message>
        <source>{members}; {tokens}</source>
        <translation>{members}，{tokens}</translation>
    </message>
    <message>
        <source>The server at {ledger} does not answer as a ledger ({detail}). Try the link again later, or ask its sender.</source>
        <translation>{ledger} 处的服务器不像账本那样应答（{detail}）。请稍后再打开此链接，或询问发送者。</translation>
    </message>
    <message>
        <source>{ledger} belongs to another network than this link. Ask its sender for a new link.</source>
        <translation>{ledger} 属于另一个网络，与此链接不符。请向发送者索取新链接。</translation>
    </message>
    <message>
        <source>The network does not know this invitation yet. A second organiser may still have to sign it. Try the link again later, or ask its sender.</source>
        <translation>网络还不认识此邀请，可能还需要第二位组织者签署。请稍后再打开此链接，或询问发送者。</translation>
    </message>
    <message>
        <source>The organisers have ended this invitation. Ask for another.</source>
        <translation>组织者已终止此邀请。请索取新的邀请。</translation>
    </message>
    <message>
        <source>This invitation has expired. Ask for another.</source>
        <translation>此邀请已过期。请索取新的邀请。</translation>
    </message>
    <message>
        <source>This invitation has been used up. Ask for another.</source>
        <translation>此邀请的次数已用完。请索取新的邀请。</translation>
    </message>
    <message>
        <source>The run “{detail}” has ended.</source>
        <translation>训练任务“{detail}”已结束。</translation>
    </message>
    <message>
        <source>This app's folder belongs to another network, with its key and points. Join on the command line, in a folder of its own: tequio join LINK --dir FOLDER</source>
        <translation>此应用的文件夹属于另一个网络，含其密钥和积分。请在命令行中用单独的文件夹加入：tequio join LINK --dir FOLDER</translation>
    </message>
    <message>
        <source>This invitation link is incomplete ({detail}). Open it again from where you got it.</source>
        <translation>此邀请链接不完整（{detail}）。请从原处重新打开。</translation>
    </message>
    <message>
        <source>The worker here was started elsewhere. End it, then open the link again.</source>
        <translation>这里的工作进程是在别处启动的。请先结束它，再打开链接。</translation>
    </message>
</context>
<context>
    <name>JoinNetworkDialog</name>
    <message>
        <source>This computer is in the network at {ledger} now.</source>
        <translation>这台电脑现在位于 {ledger} 的网络中。</translation>
    </message>
    <message>
        <source>A link names the network at this address. Nothing is lent by joining: you decide later when this computer works for it.</source>
        <translation>一个链接指定了此地址的网络。加入本身不会贡献任何算力：这台电脑何时为它工作，由您稍后决定。</translation>
    </message>
    <message>
        <source>Choose the network that this computer should work for.</source>
        <translation>选择这台电脑要为哪个网络工作。</translation>
    </message>
    <message>
        <source>Join this network?</source>
        <translation>要加入此网络吗？</translation>
    </message>
    <message>
        <source>Join a network</source>
        <translation>加入网络</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
</context>
<context>
    <name>JoinedCard</name>
    <message>
        <source>Since you joined</source>
        <translation>自您加入以来</translation>
    </message>
    <message>
        <source>None of your work has been accepted yet. Once it is, you can see here how the model has changed since.</source>
        <translation>您的工作还没有被接受。被接受之后，这里会显示模型从那时起的变化。</translation>
    </message>
    <message>
        <source>Your work has counted since round {round}. The model has not been measured since.</source>
        <translation>您的工作从第 {round} 轮开始计入。此后还没有测量过模型。</translation>
    </message>
    <message>
        <source>Your work has counted since round {round}. The next measure will show how the model changes.</source>
        <translation>您的工作从第 {round} 轮开始计入。下一次测量会显示模型的变化。</translation>
    </message>
    <message>
        <source>Since your work first counted, in round {round}, the model has improved from {then} to {now} bits per byte on unseen text: {percent} fewer. Its perplexity went from {before} to {after}.</source>
        <translation>自您的工作在第 {round} 轮首次计入以来，模型在未见过的文本上从每字节 {then} 比特改进到 {now} 比特：减少 {percent}。困惑度从 {before} 变为 {after}。</translation>
    </message>
    <message>
        <source>Since your work first counted, in round {round}, the model has gone from {then} to {now} bits per byte on unseen text: {percent} more. Its perplexity went from {before} to {after}. Lower is better; both go up and down from round to round.</source>
        <translation>自您的工作在第 {round} 轮首次计入以来，模型在未见过的文本上从每字节 {then} 比特变为 {now} 比特：增加 {percent}。困惑度从 {before} 变为 {after}。两者都是越低越好，各轮之间会有波动。</translation>
    </message>
</context>
<context>
    <name>JudgingCard</name>
    <message>
        <source>Judging</source>
        <translation>评审</translation>
    </message>
    <message>
        <source>Offer to judge</source>
        <translation>报名评审</translation>
    </message>
    <message>
        <source>Resume judging</source>
        <translation>恢复评审</translation>
    </message>
    <message>
        <source>Stop judging</source>
        <translation>停止评审</translation>
    </message>
</context>
<context>
    <name>KeyAccount</name>
    <message>
        <source>The worker does not answer</source>
        <translation>工作进程没有响应</translation>
    </message>
</context>
<context>
    <name>KeyCard</name>
    <message>
        <source>24 words…</source>
        <translation>24 个单词…</translation>
    </message>
    <message>
        <source>Save a file…</source>
        <translation>保存文件…</translation>
    </message>
    <message>
        <source>Change how it's stored…</source>
        <translation>更改保存方式…</translation>
    </message>
    <message>
        <source>Restore another…</source>
        <translation>恢复其他密钥…</translation>
    </message>
    <message>
        <source>A sealed key</source>
        <translation>加密的密钥</translation>
    </message>
    <message>
        <source>No key</source>
        <translation>没有密钥</translation>
    </message>
    <message>
        <source>You don't have a key yet.</source>
        <translation>您还没有密钥。</translation>
    </message>
    <message>
        <source>Kept in this system's keyring: the file alone is worth nothing.</source>
        <translation>保存在此系统的钥匙串中：单有文件毫无用处。</translation>
    </message>
    <message>
        <source>Kept under your passphrase, which is asked at each start.</source>
        <translation>用密码短语保护，每次启动时询问。</translation>
    </message>
    <message>
        <source>Stored unencrypted, in a file only your user account can read.</source>
        <translation>未加密保存，文件只有您的用户账户能读取。</translation>
    </message>
    <message>
        <source>No backup yet</source>
        <translation>尚未备份</translation>
    </message>
    <message>
        <source>Back it up now, or later: until then Home reminds you. If this disk fails without a backup, your points cannot be claimed.</source>
        <translation>现在或稍后备份均可：在此之前，主页会提醒您。如果没有备份而磁盘损坏，积分将无法取回。</translation>
    </message>
    <message>
        <source>Backed up as words, {day}</source>
        <translation>已备份为单词，{day}</translation>
    </message>
    <message>
        <source>Backed up as a file, {day}</source>
        <translation>已备份为文件，{day}</translation>
    </message>
    <message>
        <source>You can make as many backups as you like; all remain valid.</source>
        <translation>备份次数不限，所有备份都一直有效。</translation>
    </message>
</context>
<context>
    <name>KeyDialog</name>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
</context>
<context>
    <name>KeyStep</name>
    <message>
        <source>Your key</source>
        <translation>您的密钥</translation>
    </message>
    <message>
        <source>Your key is your account: no e-mail and no sign-up. It signs your work, and the points belong to it.</source>
        <translation>密钥就是您的账号：不需要邮箱，也不用注册。它为您的工作签名，积分归它所有。</translation>
    </message>
</context>
<context>
    <name>LeaveDialog</name>
    <message>
        <source>Nothing is lent. What you chose is kept, and “Set up” on Home returns to this step.</source>
        <translation>不会贡献任何算力。已做的选择会保留，主页上的“初始设置”会回到这一步。</translation>
    </message>
    <message>
        <source>What you chose here is dropped, and lending stays as it was.</source>
        <translation>在此所做的选择将被丢弃，贡献保持原样。</translation>
    </message>
    <message>
        <source>Leave this for now?</source>
        <translation>暂时离开？</translation>
    </message>
    <message>
        <source>Leave for now</source>
        <translation>暂时离开</translation>
    </message>
    <message>
        <source>Go on here</source>
        <translation>继续设置</translation>
    </message>
</context>
<context>
    <name>LedgerCheck</name>
    <message>
        <source>{address} is not a valid ledger address: it must begin with http:// or https:// and name a computer, for example https://ledger.example.</source>
        <translation>{address} 不是有效的账本地址：必须以 http:// 或 https:// 开头并包含主机名，例如 https://ledger.example。</translation>
    </message>
    <message>
        <source>Nothing answers at {address}. Check the address and your connection.</source>
        <translation>{address} 没有响应。请检查地址和网络连接。</translation>
    </message>
    <message>
        <source>{address} is not a ledger. Check the address with its sender.</source>
        <translation>{address} 不是账本。请与发送者核对地址。</translation>
    </message>
</context>
<context>
    <name>LedgerField</name>
    <message>
        <source>Ledger's address</source>
        <translation>账本地址</translation>
    </message>
    <message>
        <source>Join a network…</source>
        <translation>加入网络…</translation>
    </message>
    <message>
        <source>Connecting…</source>
        <translation>正在连接…</translation>
    </message>
    <message>
        <source>No network was chosen yet.</source>
        <translation>还没有选择网络。</translation>
    </message>
    <message>
        <source>Not answering now. Tequio keeps trying.</source>
        <translation>暂无响应。Tequio 会继续尝试。</translation>
    </message>
    <message>
        <source>Connected.</source>
        <translation>已连接。</translation>
    </message>
</context>
<context>
    <name>ListPage</name>
    <message>
        <source>Refresh</source>
        <translation>刷新</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>This list is from {time}. {problem}; Tequio keeps trying.</source>
        <translation>此列表来自 {time}。{problem}；Tequio 会继续尝试。</translation>
    </message>
</context>
<context>
    <name>ListenField</name>
    <message>
        <source>Listen address</source>
        <translation>监听地址</translation>
    </message>
    <message>
        <source>{address} is not a valid listen address: write /ip4/0.0.0.0/tcp/4001, or leave it empty.</source>
        <translation>{address} 不是有效的监听地址：请写成 /ip4/0.0.0.0/tcp/4001 的形式，或留空。</translation>
    </message>
</context>
<context>
    <name>LoginSwitch</name>
    <message>
        <source>Start at login</source>
        <translation>登录时启动</translation>
    </message>
    <message>
        <source>The system refused the change: {why}. Add Tequio to its startup programs by hand.</source>
        <translation>系统拒绝了更改：{why}。请手动把 Tequio 加入启动程序。</translation>
    </message>
    <message>
        <source>The system accepted the change but does not report it. Check its own list of startup programs.</source>
        <translation>系统接受了更改，但没有反映出来。请查看系统自己的启动程序列表。</translation>
    </message>
</context>
<context>
    <name>LostKeyControl</name>
    <message>
        <source>Use a recovery key…</source>
        <translation>使用恢复密钥…</translation>
    </message>
</context>
<context>
    <name>LostKeyDialog</name>
    <message>
        <source>A lost or stolen computer</source>
        <translation>电脑丢失或被盗</translation>
    </message>
    <message>
        <source>The recovery key stops that computer's key permanently: a thief can no longer use it. If the key had no recovery key, a backup of the key itself does the same.</source>
        <translation>恢复密钥会永久停用那台电脑的密钥：小偷无法再使用它。如果那把密钥没有恢复密钥，用密钥本身的备份也能做到。</translation>
    </message>
    <message>
        <source>What to do</source>
        <translation>要做什么</translation>
    </message>
    <message>
        <source>Only stop its key</source>
        <translation>仅停用其密钥</translation>
    </message>
    <message>
        <source>Move its points here</source>
        <translation>把积分转移到这里</translation>
    </message>
    <message>
        <source>Key of the lost computer</source>
        <translation>丢失电脑的密钥</translation>
    </message>
    <message>
        <source>Its 43 characters, or the address of its page</source>
        <translation>其 43 个字符，或其页面的地址</translation>
    </message>
    <message>
        <source>In the full ranking, its name opens that page.</source>
        <translation>在完整排行榜中点击其名称即可打开该页面。</translation>
    </message>
    <message>
        <source>Passphrase of the file</source>
        <translation>文件的密码短语</translation>
    </message>
    <message>
        <source>I know that this key can never be used again</source>
        <translation>我知道这把密钥将永远无法再使用</translation>
    </message>
    <message>
        <source>Its recovery key</source>
        <translation>它的恢复密钥</translation>
    </message>
    <message>
        <source>Move the points</source>
        <translation>转移积分</translation>
    </message>
    <message>
        <source>Stop the key</source>
        <translation>停用密钥</translation>
    </message>
    <message>
        <source>A new key on this computer gets the points, standing, name and team of the lost one. The key that this computer has now is kept aside, with its own points.</source>
        <translation>这台电脑上的新密钥会接收丢失密钥的积分、信誉、名称和团队。这台电脑现有的密钥及其积分会另行保留。</translation>
    </message>
    <message>
        <source>It earns nothing more. You can still move its points later.</source>
        <translation>它不再获得积分。之后仍可转移其积分。</translation>
    </message>
</context>
<context>
    <name>ModelPage</name>
    <message>
        <source>The model that this computer helps to train.</source>
        <translation>这台电脑正在帮助训练的模型。</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>No run yet</source>
        <translation>还没有训练任务</translation>
    </message>
    <message>
        <source>Once this computer is in a run, you can see here what its model learns.</source>
        <translation>这台电脑加入训练任务后，您可以在这里看到模型学到了什么。</translation>
    </message>
    <message>
        <source>Open Runs</source>
        <translation>打开训练任务</translation>
    </message>
    <message>
        <source>{run}: the model that this computer helps to train.</source>
        <translation>{run}：这台电脑正在帮助训练的模型。</translation>
    </message>
    <message>
        <source>Couldn't read the measures of this model. Tequio keeps trying.</source>
        <translation>无法读取此模型的测量结果。Tequio 会继续尝试。</translation>
    </message>
    <message>
        <source>The model got worse: after round {number}, it guesses unseen text less well than after round {best}. Several members measured it and agree. The organisers can pause the run and go back to an earlier model.</source>
        <translation>模型变差了：第 {number} 轮之后，它对未见文本的预测不如第 {best} 轮之后。多名成员已测量，结果一致。组织者可以暂停训练任务，并退回到较早的模型。</translation>
    </message>
    <message>
        <source>This model has not been measured yet. Some members measure it every few rounds if the run's rules say so, and the results appear here.</source>
        <translation>此模型还没有被测量过。如果训练任务的规则有此规定，部分成员会每隔几轮测量一次，结果会显示在这里。</translation>
    </message>
    <message>
        <source>Asking the network how well the model does.</source>
        <translation>正在向网络查询模型的表现。</translation>
    </message>
    <message>
        <source>{problem}. Tequio will keep trying.</source>
        <translation>{problem}。Tequio 会继续尝试。</translation>
    </message>
    <message>
        <source>Couldn't load the model</source>
        <translation>无法加载模型</translation>
    </message>
    <message>
        <source>Looking for the model</source>
        <translation>正在查找模型</translation>
    </message>
    <message>
        <source>Asking the network which run this computer is in.</source>
        <translation>正在向网络查询这台电脑参加的训练任务。</translation>
    </message>
</context>
<context>
    <name>NameControl</name>
    <message>
        <source>Choose…</source>
        <translation>选择…</translation>
    </message>
    <message>
        <source>Change…</source>
        <translation>更改…</translation>
    </message>
    <message>
        <source>You can choose a name once a round has accepted your work.</source>
        <translation>有一轮接受您的工作后，就可以选择名称。</translation>
    </message>
</context>
<context>
    <name>NameDialog</name>
    <message>
        <source>Public name</source>
        <translation>公开名称</translation>
    </message>
    <message>
        <source>The name is unique in this network. You can change it once every 30 days, and nobody else can take your former name for that long.</source>
        <translation>名称在此网络中唯一，每 30 天可更改一次；在此期间，别人不能使用您的旧名称。</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>No name</source>
        <translation>没有名称</translation>
    </message>
    <message>
        <source>Names are public and permanent: old ones stay in the log.</source>
        <translation>名称永久公开：旧名称会留在日志中。</translation>
    </message>
    <message>
        <source>2 to 32 letters of one script and digits, with single spaces, hyphens or underscores between them.</source>
        <translation>2 到 32 个同一文字体系的字母和数字，中间可用单个空格、连字符或下划线。</translation>
    </message>
    <message>
        <source>This is not a possible name: use 2 to 32 letters of one script and digits, with single spaces, hyphens or underscores between them.</source>
        <translation>名称不符合要求：请使用 2 到 32 个同一文字体系的字母和数字，中间可用单个空格、连字符或下划线。</translation>
    </message>
    <message>
        <source>Remove the name</source>
        <translation>移除名称</translation>
    </message>
    <message>
        <source>Use this name</source>
        <translation>使用此名称</translation>
    </message>
</context>
<context>
    <name>NetworkChooser</name>
    <message>
        <source>Address or invitation link</source>
        <translation>地址或邀请链接</translation>
    </message>
    <message>
        <source>Join</source>
        <translation>加入</translation>
    </message>
    <message>
        <source>Or paste an address</source>
        <translation>或粘贴地址</translation>
    </message>
    <message>
        <source>Paste an address</source>
        <translation>粘贴地址</translation>
    </message>
    <message>
        <source>Organisers publish the address of their network's ledger, or send you an invitation link. Nothing is lent by joining.</source>
        <translation>组织者会公布其网络的账本地址，或发送邀请链接。加入本身不会贡献任何算力。</translation>
    </message>
    <message>
        <source>This link is not complete. Copy all of it, from {scheme}:// to its end.</source>
        <translation>此链接不完整。请复制从 {scheme}:// 到结尾的全部内容。</translation>
    </message>
    <message>
        <source>Looking for a ledger at {address}…</source>
        <translation>正在 {address} 查找账本…</translation>
    </message>
    <message>
        <source>“{name}” is not the network that your key and points belong to. To join it as well, start the app with another folder: tequio app --dir {folder}</source>
        <translation>“{name}”不是您的密钥和积分所属的网络。如果也想加入，请用另一个文件夹启动应用：tequio app --dir {folder}</translation>
    </message>
    <message>
        <source>Its log must be signed by independent witnesses, too.</source>
        <translation>其日志还须由独立见证者签名。</translation>
    </message>
</context>
<context>
    <name>NetworkPanel</name>
    <message>
        <source>First, choose a network</source>
        <translation>请先选择网络</translation>
    </message>
    <message>
        <source>Another network…</source>
        <translation>其他网络…</translation>
    </message>
    <message>
        <source>Network: {ledger}</source>
        <translation>网络：{ledger}</translation>
    </message>
</context>
<context>
    <name>NewKeyCard</name>
    <message>
        <source>Make my key</source>
        <translation>生成我的密钥</translation>
    </message>
    <message>
        <source>I have one already…</source>
        <translation>我已有密钥…</translation>
    </message>
    <message>
        <source>Where should it be stored?</source>
        <translation>要保存在哪里？</translation>
    </message>
</context>
<context>
    <name>NewPassphrase</name>
    <message>
        <source>Passphrase</source>
        <translation>密码短语</translation>
    </message>
    <message>
        <source>Repeat the passphrase</source>
        <translation>再次输入密码短语</translation>
    </message>
    <message>
        <source>Show what I type</source>
        <translation>显示输入内容</translation>
    </message>
    <message>
        <source>The two are not the same.</source>
        <translation>两次输入不一致。</translation>
    </message>
    <message>
        <source>At least {least} characters.</source>
        <translation>至少 {least} 个字符。</translation>
    </message>
    <message>
        <source>Longer is safer: four or five unrelated words do well.</source>
        <translation>越长越安全：四五个互不相关的词就很好。</translation>
    </message>
    <message>
        <source>Nobody can reset it: without it the key cannot be opened.</source>
        <translation>没有人能重置它：没有它就打不开密钥。</translation>
    </message>
</context>
<context>
    <name>Notifier</name>
    <message>
        <source>Tequio goes on in the background</source>
        <translation>Tequio 在后台继续运行</translation>
    </message>
    <message>
        <source>Its tray icon shows what it is doing, and opens this window again.</source>
        <translation>面板中的图标会显示它的状态，点击可重新打开此窗口。</translation>
    </message>
    <message>
        <source>{points} points so far. The log's proof was checked on this computer.</source>
        <translation>目前共 {points} 积分。日志的证明已在这台电脑上核验。</translation>
    </message>
    <message>
        <source>Your first points are verified</source>
        <translation>首批积分已验证</translation>
    </message>
    <message>
        <source>You are #{rank} of {ranked}</source>
        <translation>您排名第 {rank}，共 {ranked} 人</translation>
    </message>
    <message numerus="yes">
        <source>%n place(s) up since you were last told.</source>
        <translation>
            <numerusform>自上次通知以来上升 %n 位。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n place(s) down since you were last told.</source>
        <translation>
            <numerusform>自上次通知以来下降 %n 位。</numerusform>
        </translation>
    </message>
    <message>
        <source>The same place as last time.</source>
        <translation>与上次名次相同。</translation>
    </message>
    <message>
        <source>From the network's organisers</source>
        <translation>来自网络组织者的通知</translation>
    </message>
    <message>
        <source>Tequio needs your attention</source>
        <translation>Tequio 需要您处理</translation>
    </message>
    <message>
        <source>Open Tequio</source>
        <translation>打开 Tequio</translation>
    </message>
</context>
<context>
    <name>OrganiserNotices</name>
    <message>
        <source>From the organisers of this network: {text}</source>
        <translation>本网络的组织者通知：{text}</translation>
    </message>
    <message>
        <source>{run} is paused by its organisers: {text}</source>
        <translation>{run} 已被组织者暂停：{text}</translation>
    </message>
    <message>
        <source>From the organisers of {run}: {text}</source>
        <translation>{run} 的组织者通知：{text}</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>关闭提示</translation>
    </message>
</context>
<context>
    <name>OwnTeamPane</name>
    <message>
        <source>Goal</source>
        <translation>目标</translation>
    </message>
    <message>
        <source>Members of the team</source>
        <translation>团队成员</translation>
    </message>
    <message>
        <source>Join link</source>
        <translation>加入链接</translation>
    </message>
    <message>
        <source>Code</source>
        <translation>加入码</translation>
    </message>
    <message>
        <source>Make a new link</source>
        <translation>生成新链接</translation>
    </message>
    <message>
        <source>Close the link</source>
        <translation>停用链接</translation>
    </message>
    <message>
        <source>Points of the goal</source>
        <translation>目标积分</translation>
    </message>
    <message>
        <source>No goal</source>
        <translation>无目标</translation>
    </message>
    <message>
        <source>Last day of the goal</source>
        <translation>目标的最后一天</translation>
    </message>
    <message>
        <source>Set the goal</source>
        <translation>设定目标</translation>
    </message>
    <message>
        <source>New name of the team</source>
        <translation>团队的新名称</translation>
    </message>
    <message>
        <source>Use this name</source>
        <translation>使用此名称</translation>
    </message>
    <message>
        <source>Remove…</source>
        <translation>移除…</translation>
    </message>
    <message>
        <source>Hand over…</source>
        <translation>移交…</translation>
    </message>
    <message>
        <source>Open its page</source>
        <translation>打开团队页面</translation>
    </message>
    <message>
        <source>Leave the team…</source>
        <translation>离开团队…</translation>
    </message>
    <message>
        <source>The organisers of the network withdrew the team's name. Choose another one.</source>
        <translation>网络的组织者撤销了团队名称。请另选一个。</translation>
    </message>
    <message>
        <source>The same as a code, for people in this network:</source>
        <translation>同一链接的加入码，供此网络中的人使用：</translation>
    </message>
    <message>
        <source>Goal: {reached} of {goal} points by {day}</source>
        <translation>目标：{reached} / {goal} 积分，截至 {day}</translation>
    </message>
    <message>
        <source>Goal reached: {reached} of {goal} points by {day}</source>
        <translation>目标已达成：{reached} / {goal} 积分，截至 {day}</translation>
    </message>
    <message>
        <source>Everyone who has it can join until {day}. A new link ends this one.</source>
        <translation>在 {day} 之前，持有者均可加入。生成新链接后，此链接失效。</translation>
    </message>
    <message>
        <source>The present link was made with another key or ended.</source>
        <translation>当前链接是用另一密钥生成的，或已过期。</translation>
    </message>
    <message>
        <source>Nobody can join at the moment.</source>
        <translation>目前无人可以加入。</translation>
    </message>
</context>
<context>
    <name>PeriodicQuestion</name>
    <message>
        <source>The worker does not answer</source>
        <translation>工作进程没有响应</translation>
    </message>
</context>
<context>
    <name>PointsExport</name>
    <message>
        <source>the worker does not answer</source>
        <translation>工作进程没有响应</translation>
    </message>
    <message>
        <source>{file} was not written: {why}. Choose another place, or try again.</source>
        <translation>{file} 未能写入：{why}。请换个位置，或重试。</translation>
    </message>
</context>
<context>
    <name>PointsPage</name>
    <message>
        <source>Share…</source>
        <translation>分享…</translation>
    </message>
    <message>
        <source>Export CSV</source>
        <translation>导出 CSV</translation>
    </message>
    <message>
        <source>Points</source>
        <translation>积分</translation>
    </message>
    <message>
        <source>Counted only when this computer has checked the proof in the ledger's log.</source>
        <translation>只有这台电脑核验过账本日志中的证明后才计入。</translation>
    </message>
    <message>
        <source>Export all rounds</source>
        <translation>导出所有轮次</translation>
    </message>
    <message>
        <source>Comma-separated values (*.csv)</source>
        <translation>逗号分隔值 (*.csv)</translation>
    </message>
    <message>
        <source>Processor</source>
        <translation>处理器</translation>
    </message>
    <message>
        <source>Your key has no public page yet: it gets one when it joins the network.</source>
        <translation>您的密钥还没有公开页面：加入网络后就会有。</translation>
    </message>
    <message>
        <source>The ledger says that you have {points} more points. This computer has not read and checked their log entries yet, so they are not counted here. It does so automatically.</source>
        <translation>账本称您还有 {points} 积分。其日志中的相应条目尚未在这里读取和核验，因此还没有计入。这会自动进行。</translation>
    </message>
    <message numerus="yes">
        <source>%Ln round(s) written to {file}</source>
        <translation>
            <numerusform>已将 %Ln 轮写入 {file}</numerusform>
        </translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
</context>
<context>
    <name>PointsRange</name>
    <message>
        <source>Verified points over time</source>
        <translation>已验证积分的变化</translation>
    </message>
    <message>
        <source>Time span</source>
        <translation>时间范围</translation>
    </message>
    <message>
        <source>24 h</source>
        <translation>24 小时</translation>
    </message>
    <message>
        <source>7 days</source>
        <translation>7 天</translation>
    </message>
    <message>
        <source>30 days</source>
        <translation>30 天</translation>
    </message>
    <message>
        <source>All</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>No points were verified in this time.</source>
        <translation>这段时间没有积分被验证。</translation>
    </message>
    <message>
        <source>{total} points in this time</source>
        <translation>这段时间共 {total} 积分</translation>
    </message>
    <message>
        <source>{summary}; most at {when}: {points}</source>
        <translation>{summary}；最多在 {when}：{points}</translation>
    </message>
</context>
<context>
    <name>PointsSums</name>
    <message>
        <source>Verified</source>
        <translation>已验证</translation>
    </message>
    <message>
        <source>Vesting</source>
        <translation>归属中</translation>
    </message>
    <message>
        <source>Pending</source>
        <translation>待确认</translation>
    </message>
    <message>
        <source>Rejected today</source>
        <translation>今日被拒</translation>
    </message>
    <message>
        <source>{points} today</source>
        <translation>今日 {points}</translation>
    </message>
    <message>
        <source>Rounds that are not proven yet</source>
        <translation>尚未得到证明的轮次</translation>
    </message>
    <message>
        <source>Nothing pending</source>
        <translation>没有待处理项</translation>
    </message>
    <message>
        <source>Rounds that gave nothing</source>
        <translation>没有收益的轮次</translation>
    </message>
    <message>
        <source>None today</source>
        <translation>今日没有</translation>
    </message>
    <message>
        <source>{points} were forfeited</source>
        <translation>{points} 已作废</translation>
    </message>
    <message>
        <source>Final after a few more rounds</source>
        <translation>再过几轮后确定</translation>
    </message>
    <message>
        <source>All points are final</source>
        <translation>积分均已确定</translation>
    </message>
</context>
<context>
    <name>PresetPicker</name>
    <message>
        <source>Preset</source>
        <translation>预设</translation>
    </message>
    <message>
        <source>Gentle</source>
        <translation>温和</translation>
    </message>
    <message>
        <source>Starts after 15 min without input. Pauses for films, and when other programs use a quarter of the CPU.</source>
        <translation>15 分钟无操作后开始。看视频时，以及其他程序占用四分之一 CPU 时暂停。</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>均衡</translation>
    </message>
    <message>
        <source>Starts after 5 min without input. Continues during films; other programs may use half of the CPU.</source>
        <translation>5 分钟无操作后开始。看视频时继续；其他程序可占用一半 CPU。</translation>
    </message>
    <message>
        <source>Max</source>
        <translation>最大</translation>
    </message>
    <message>
        <source>Starts after 1 min without input, and runs gently while you use the computer. Other programs may use three quarters of the CPU.</source>
        <translation>1 分钟无操作后开始，使用电脑时以低强度运行。其他程序可占用四分之三 CPU。</translation>
    </message>
    <message>
        <source>You have changed settings that presets cover. A preset changes only the settings named on its card.</source>
        <translation>您更改过预设所涉及的设置。预设只更改其卡片上列出的设置。</translation>
    </message>
    <message>
        <source>Use Max</source>
        <translation>使用“最大”</translation>
    </message>
    <message>
        <source>Preset: {preset}</source>
        <translation>预设：{preset}</translation>
    </message>
</context>
<context>
    <name>ProgramPicker</name>
    <message>
        <source>Choose a program</source>
        <translation>选择程序</translation>
    </message>
    <message>
        <source>Name of the program</source>
        <translation>程序名称</translation>
    </message>
    <message>
        <source>Search, or type a name such as blender</source>
        <translation>搜索，或输入名称，如 blender</translation>
    </message>
    <message>
        <source>Programs running now</source>
        <translation>正在运行的程序</translation>
    </message>
    <message>
        <source>Looking for programs…</source>
        <translation>正在查找程序…</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>添加</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>No running program has this name. Add uses it as you typed it.</source>
        <translation>没有正在运行的程序叫这个名称。“添加”会按输入的内容使用它。</translation>
    </message>
    <message>
        <source>Nothing is lent while it runs. Pick a running program, or type its name.</source>
        <translation>它运行时不会贡献算力。选择一个正在运行的程序，或输入其名称。</translation>
    </message>
</context>
<context>
    <name>ProtectionDialog</name>
    <message>
        <source>How your key is kept</source>
        <translation>密钥的保存方式</translation>
    </message>
    <message>
        <source>The key stays the same. Backups that you have made remain valid.</source>
        <translation>密钥不变。已做的备份仍然有效。</translation>
    </message>
    <message>
        <source>Store it this way</source>
        <translation>保持不变</translation>
    </message>
</context>
<context>
    <name>ProtectionPanel</name>
    <message>
        <source>In this system's keyring</source>
        <translation>保存在系统钥匙串中</translation>
    </message>
    <message>
        <source>Unlocked automatically while you are logged in. The file alone is worth nothing.</source>
        <translation>登录期间自动解锁。单有文件毫无用处。</translation>
    </message>
    <message>
        <source>Under a passphrase</source>
        <translation>用密码短语保护</translation>
    </message>
    <message>
        <source>Tequio asks for it at each start, so it can't start lending automatically at login.</source>
        <translation>Tequio 每次启动都会询问，因此无法在登录时自动开始贡献。</translation>
    </message>
    <message>
        <source>In an unencrypted file</source>
        <translation>保存在未加密的文件中</translation>
    </message>
    <message>
        <source>Only your user account can read it. For servers and computers that nobody else uses.</source>
        <translation>只有您的用户账户能读取。适合服务器和没有别人使用的电脑。</translation>
    </message>
    <message>
        <source>Not encrypted: any program that you run can read the key and take your points, and so can anyone with a copy of this disk or of your files.</source>
        <translation>未加密：您运行的任何程序都可以读取密钥并取走积分，拥有此磁盘或文件副本的人也可以。</translation>
    </message>
</context>
<context>
    <name>PublishedRow</name>
    <message>
        <source>Open</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>Round {number}, on the Hugging Face Hub</source>
        <translation>第 {number} 轮，位于 Hugging Face Hub</translation>
    </message>
    <message>
        <source>Open round {number} of {repo} in the browser</source>
        <translation>在浏览器中打开 {repo} 的第 {number} 轮</translation>
    </message>
</context>
<context>
    <name>RaceChart</name>
    <message>
        <source>Round {number}</source>
        <translation>第 {number} 轮</translation>
    </message>
</context>
<context>
    <name>RankingCard</name>
    <message>
        <source>Around you</source>
        <translation>与您相近</translation>
    </message>
    <message>
        <source>Ranking around you</source>
        <translation>与您名次相近的排行</translation>
    </message>
    <message>
        <source>Full ranking</source>
        <translation>完整排行榜</translation>
    </message>
    <message>
        <source>Not ranked yet</source>
        <translation>尚未排名</translation>
    </message>
    <message>
        <source>After your first verified round you see who has about as many points.</source>
        <translation>完成首个已验证的轮次后，会看到积分相近的志愿者。</translation>
    </message>
    <message>
        <source>No ranking now</source>
        <translation>暂无排行</translation>
    </message>
    <message>
        <source>The network does not answer. Tequio keeps trying.</source>
        <translation>网络没有响应。Tequio 会继续尝试。</translation>
    </message>
</context>
<context>
    <name>RankingRows</name>
    <message>
        <source>Volunteer</source>
        <translation>志愿者</translation>
    </message>
    <message>
        <source>Points</source>
        <translation>积分</translation>
    </message>
    <message>
        <source>{name} (you)</source>
        <translation>{name}（您）</translation>
    </message>
    <message>
        <source>You</source>
        <translation>您</translation>
    </message>
</context>
<context>
    <name>ReachabilityChip</name>
    <message>
        <source>Yes</source>
        <translation>是</translation>
    </message>
    <message>
        <source>No</source>
        <translation>否</translation>
    </message>
    <message>
        <source>Not known yet</source>
        <translation>尚不清楚</translation>
    </message>
</context>
<context>
    <name>Readings</name>
    <message>
        <source>Load</source>
        <translation>负载</translation>
    </message>
    <message>
        <source>Other programs</source>
        <translation>其他程序</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>VRAM</source>
        <translation>显存</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>温度</translation>
    </message>
    <message>
        <source>Power</source>
        <translation>功耗</translation>
    </message>
</context>
<context>
    <name>ReadyStep</name>
    <message>
        <source>Ready</source>
        <translation>就绪</translation>
    </message>
    <message>
        <source>Your choices apply once you press the button below.</source>
        <translation>按下面的按钮后，您的选择才会生效。</translation>
    </message>
    <message>
        <source>Contribute</source>
        <translation>开始贡献</translation>
    </message>
    <message>
        <source>What happens next</source>
        <translation>接下来</translation>
    </message>
    <message>
        <source>Closing the window hides it; the tray icon shows the state, and pauses everything with two clicks.</source>
        <translation>关闭窗口只是将其隐藏；面板中的图标会显示状态，点两下即可全部暂停。</translation>
    </message>
    <message>
        <source>Join and download</source>
        <translation>加入并下载</translation>
    </message>
    <message>
        <source>Begin when you are away</source>
        <translation>离开电脑后开始</translation>
    </message>
    <message>
        <source>First points</source>
        <translation>首批积分</translation>
    </message>
    <message>
        <source>They are pending when your first round ends, and verified when the ledger has closed it and your computer has checked the proof, usually one round later.</source>
        <translation>首轮结束时积分为待确认；账本结束该轮且电脑核验证明后即为已验证，通常晚一轮。</translation>
    </message>
    <message>
        <source>Gentle</source>
        <translation>温和</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>均衡</translation>
    </message>
    <message>
        <source>Max</source>
        <translation>最大</translation>
    </message>
    <message>
        <source>Starts at login</source>
        <translation>登录时启动</translation>
    </message>
    <message>
        <source>Starts by hand</source>
        <translation>手动启动</translation>
    </message>
    <message>
        <source>Run: as chosen</source>
        <translation>训练任务：所选任务</translation>
    </message>
    <message>
        <source>Run: automatic</source>
        <translation>训练任务：自动</translation>
    </message>
    <message>
        <source>No network yet</source>
        <translation>还没有网络</translation>
    </message>
    <message>
        <source>Key not backed up</source>
        <translation>密钥未备份</translation>
    </message>
    <message>
        <source>Tequio joins the run that you chose, and downloads its model and first data once.</source>
        <translation>加入所选的训练任务，并一次性下载模型和首批数据。</translation>
    </message>
    <message>
        <source>Tequio joins the run that fits best, and downloads its model and first data once.</source>
        <translation>加入最合适的训练任务，并一次性下载模型和首批数据。</translation>
    </message>
    <message>
        <source>{run}: {data} to download once, about {time} at 50 Mbit/s.</source>
        <translation>{run}：一次性下载 {data}，在 50 Mbit/s 的线路上约需 {time}。</translation>
    </message>
    <message>
        <source>First it downloads what training needs, once: {size}, {disk} on the disk.</source>
        <translation>在此之前先一次性下载训练组件：{size}，占用磁盘 {disk}。</translation>
    </message>
    <message numerus="yes">
        <source>%n minute(s) after your last input. A key or the mouse stops it.</source>
        <translation>
            <numerusform>最后一次操作 %n 分钟后开始。按键或移动鼠标即停止。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Immediately at {share} of the time, and fully %n minute(s) after your last input.</source>
        <translation>
            <numerusform>立即以 {share} 的时间运行，最后一次操作 %n 分钟后全力运行。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RecoveryControl</name>
    <message>
        <source>Make one…</source>
        <translation>创建…</translation>
    </message>
    <message>
        <source>Not known yet</source>
        <translation>尚不清楚</translation>
    </message>
    <message>
        <source>Set</source>
        <translation>已设置</translation>
    </message>
    <message>
        <source>Change it…</source>
        <translation>更改…</translation>
    </message>
    <message>
        <source>None yet</source>
        <translation>暂无</translation>
    </message>
</context>
<context>
    <name>RecoveryDialog</name>
    <message>
        <source>Make a recovery key</source>
        <translation>创建恢复密钥</translation>
    </message>
    <message>
        <source>If this computer is stolen or breaks, the recovery key stops its key and moves your points to a new one. Keep it away from this computer.</source>
        <translation>如果这台电脑被盗或损坏，恢复密钥可以停用其密钥，并把积分转移到新密钥。请不要放在这台电脑附近。</translation>
    </message>
    <message>
        <source>Change the recovery key</source>
        <translation>更改恢复密钥</translation>
    </message>
    <message>
        <source>Passphrase of the file</source>
        <translation>文件的密码短语</translation>
    </message>
    <message>
        <source>The present recovery key</source>
        <translation>当前的恢复密钥</translation>
    </message>
    <message>
        <source>The new one</source>
        <translation>新的恢复密钥</translation>
    </message>
    <message>
        <source>Store it as</source>
        <translation>保存为</translation>
    </message>
    <message>
        <source>24 words</source>
        <translation>24 个单词</translation>
    </message>
    <message>
        <source>A file</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>The file is sealed under a passphrase. Put it on a USB stick or another computer.</source>
        <translation>文件用密码短语加密。请存到 U 盘或另一台电脑。</translation>
    </message>
    <message>
        <source>Save the file…</source>
        <translation>保存文件…</translation>
    </message>
    <message>
        <source>Show the words</source>
        <translation>显示单词</translation>
    </message>
    <message>
        <source>I have written them down</source>
        <translation>我已抄写好</translation>
    </message>
    <message>
        <source>Use this recovery key</source>
        <translation>使用此恢复密钥</translation>
    </message>
    <message>
        <source>Save the recovery key</source>
        <translation>保存恢复密钥</translation>
    </message>
</context>
<context>
    <name>ReleaseService</name>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>Version {version} is ready, and starts the next time Tequio starts.</source>
        <translation>版本 {version} 已就绪，下次启动 Tequio 时生效。</translation>
    </message>
    <message>
        <source>Restart now</source>
        <translation>立即重启</translation>
    </message>
    <message>
        <source>Before this computer can train, it needs a download of {size}, which takes {disk} on the disk.</source>
        <translation>这台电脑要能训练，还需下载 {size}，占用磁盘 {disk}。</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>下载</translation>
    </message>
    <message>
        <source>Testing what was downloaded…</source>
        <translation>正在测试下载的内容…</translation>
    </message>
    <message>
        <source>Downloading what training needs</source>
        <translation>正在下载训练组件</translation>
    </message>
    <message>
        <source>Downloading version {version}</source>
        <translation>正在下载版本 {version}</translation>
    </message>
    <message>
        <source>{what}: {done} of {total}</source>
        <translation>{what}：{done} / {total}</translation>
    </message>
    <message>
        <source>The updater stopped unexpectedly.</source>
        <translation>更新程序意外停止。</translation>
    </message>
    <message>
        <source>There is no newer version of Tequio yet.</source>
        <translation>Tequio 还没有更新的版本。</translation>
    </message>
</context>
<context>
    <name>ReplaceControl</name>
    <message>
        <source>Replace…</source>
        <translation>更换…</translation>
    </message>
</context>
<context>
    <name>ReplaceDialog</name>
    <message>
        <source>Replace this computer's key</source>
        <translation>更换这台电脑的密钥</translation>
    </message>
    <message>
        <source>A new key takes over your points, standing, name and team. Do this if somebody else may have seen the key. It does not end a quarantine.</source>
        <translation>新密钥会接管您的积分、信誉、名称和团队。如果可能有人看到过密钥，请这样做。这不会解除隔离。</translation>
    </message>
    <message>
        <source>Replace the key</source>
        <translation>更换密钥</translation>
    </message>
    <message>
        <source>Passphrase of the file</source>
        <translation>文件的密码短语</translation>
    </message>
    <message>
        <source>Your recovery key</source>
        <translation>您的恢复密钥</translation>
    </message>
    <message>
        <source>I know that the present key can never be used again</source>
        <translation>我知道当前密钥将永远无法再使用</translation>
    </message>
    <message>
        <source>Afterwards, back up the new key: old backups become worthless.</source>
        <translation>之后请备份新密钥：旧备份会失效。</translation>
    </message>
</context>
<context>
    <name>ResetButton</name>
    <message>
        <source>Reset all settings</source>
        <translation>重置所有设置</translation>
    </message>
    <message>
        <source>All settings have their defaults again.</source>
        <translation>所有设置已恢复默认值。</translation>
    </message>
</context>
<context>
    <name>RestoreDialog</name>
    <message>
        <source>Restore a key</source>
        <translation>恢复密钥</translation>
    </message>
    <message>
        <source>With your earlier key you are the same volunteer, with the same points. Use it on one computer at a time. A key that is here now is kept aside.</source>
        <translation>用以前的密钥，您就还是同一位志愿者，积分也不变。请同一时间只在一台电脑上使用。这里现有的密钥会另行保留。</translation>
    </message>
    <message>
        <source>Restore</source>
        <translation>恢复</translation>
    </message>
    <message>
        <source>Passphrase of the backup</source>
        <translation>备份的密码短语</translation>
    </message>
    <message>
        <source>How it is kept here</source>
        <translation>在这里的保存方式</translation>
    </message>
</context>
<context>
    <name>ResultCard</name>
    <message>
        <source>Result</source>
        <translation>结果</translation>
    </message>
    <message>
        <source>bits per byte and perplexity per byte, lower is better</source>
        <translation>每字节比特数和每字节困惑度，越低越好</translation>
    </message>
    <message>
        <source>The dot is the score. If other texts of the same kind had been drawn, it would lie within the bar 95 times in 100. Entrants that cannot be told apart share a place.</source>
        <translation>圆点是得分。如果抽到的是同类的其他文本，得分有 95% 的可能落在横条之内。无法区分高下的参赛方并列。</translation>
    </message>
    <message>
        <source>Check it yourself</source>
        <translation>自行核验</translation>
    </message>
    <message>
        <source>The command that checks it</source>
        <translation>核验所用的命令</translation>
    </message>
    <message>
        <source>Not ranked: too few of the drawn evaluators scored the entrants.</source>
        <translation>没有排名：抽中的评测者中，完成评分的太少。</translation>
    </message>
</context>
<context>
    <name>ResultTable</name>
    <message>
        <source>Places</source>
        <translation>名次</translation>
    </message>
    <message>
        <source>{name}: not ranked</source>
        <translation>{name}：无排名</translation>
    </message>
    <message>
        <source>Place {rank}, {name}: {score} bits per byte, between {low} and {high}; perplexity {perplexity} per byte</source>
        <translation>第 {rank} 名，{name}：每字节 {score} 比特，介于 {low} 和 {high} 之间；每字节困惑度 {perplexity}</translation>
    </message>
</context>
<context>
    <name>RoleCard</name>
    <message>
        <source>What this computer can do instead</source>
        <translation>这台电脑还能做什么</translation>
    </message>
    <message>
        <source>Role</source>
        <translation>角色</translation>
    </message>
    <message>
        <source>Witness (fits best)</source>
        <translation>见证者（最合适）</translation>
    </message>
    <message>
        <source>Train on the processor</source>
        <translation>用处理器训练</translation>
    </message>
    <message>
        <source>Slower than any graphics card, and for small models only. Earns a few points.</source>
        <translation>比任何显卡都慢，只适合小模型。可获得少量积分。</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>Both: trains the model, and checks the work of others.</source>
        <translation>两者都做：训练模型，并检验他人的工作。</translation>
    </message>
    <message>
        <source>Checks the work of others and signs what is correct. It trains nothing and uses little electricity.</source>
        <translation>检验他人的工作，并为正确的结果签名。不训练，用电很少。</translation>
    </message>
    <message>
        <source>Earns a small part of what training earns.</source>
        <translation>所得是训练收益的一小部分。</translation>
    </message>
    <message>
        <source>All witnesses of a round share {percent} of what its trainers earn.</source>
        <translation>一轮的所有见证者共享训练者所得的 {percent}。</translation>
    </message>
</context>
<context>
    <name>RoundCard</name>
    <message>
        <source>Round</source>
        <translation>轮次</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>训练任务</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>Bits per byte</source>
        <translation>每字节比特数</translation>
    </message>
    <message>
        <source>Perplexity</source>
        <translation>困惑度</translation>
    </message>
    <message>
        <source>The model and its data are fetched once; then the first round begins.</source>
        <translation>模型及其数据只下载一次，随后开始第一轮。</translation>
    </message>
    <message>
        <source>Once this computer has joined a run, it trains round by round.</source>
        <translation>这台电脑加入训练任务后，会一轮一轮地训练。</translation>
    </message>
    <message>
        <source>Joining a run</source>
        <translation>正在加入训练任务</translation>
    </message>
    <message>
        <source>No round now</source>
        <translation>目前没有轮次</translation>
    </message>
    <message>
        <source>of round</source>
        <translation>本轮进度</translation>
    </message>
    <message>
        <source>Trainer</source>
        <translation>训练者</translation>
    </message>
    <message>
        <source>Witness</source>
        <translation>见证者</translation>
    </message>
    <message>
        <source>No role yet</source>
        <translation>还没有角色</translation>
    </message>
    <message>
        <source>Auditor</source>
        <translation>审计者</translation>
    </message>
    <message>
        <source>Not taking part</source>
        <translation>未参与</translation>
    </message>
    <message>
        <source>Round {number} of {rounds}</source>
        <translation>第 {number} 轮，共 {rounds} 轮</translation>
    </message>
    <message>
        <source>Round {number}</source>
        <translation>第 {number} 轮</translation>
    </message>
    <message numerus="yes">
        <source>%Ln peer(s)</source>
        <translation>
            <numerusform>%Ln 个节点</numerusform>
        </translation>
    </message>
    <message>
        <source>{time} left</source>
        <translation>剩余 {time}</translation>
    </message>
</context>
<context>
    <name>RoundDialog</name>
    <message>
        <source>{run}, round {number}</source>
        <translation>{run}，第 {number} 轮</translation>
    </message>
    <message>
        <source>Shared by others</source>
        <translation>他人分享</translation>
    </message>
    <message>
        <source>When</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>Points</source>
        <translation>积分</translation>
    </message>
    <message>
        <source>For training</source>
        <translation>训练所得</translation>
    </message>
    <message>
        <source>For checking others' work</source>
        <translation>检验所得</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>token 数</translation>
    </message>
    <message>
        <source>Energy</source>
        <translation>用电</translation>
    </message>
    <message>
        <source>Ledger</source>
        <translation>账本</translation>
    </message>
    <message>
        <source>Log entry</source>
        <translation>日志条目</translation>
    </message>
    <message>
        <source>Checkpoint, entries</source>
        <translation>检查点条目数</translation>
    </message>
    <message>
        <source>Checkpoint, root</source>
        <translation>检查点根哈希</translation>
    </message>
    <message>
        <source>What was checked here</source>
        <translation>这里核验了什么</translation>
    </message>
    <message>
        <source>This computer fetched the end of the round from the ledger's public log, read in it what you get, and checked that it is in the log that the ledger has signed. Nobody can change or remove it later without that showing.</source>
        <translation>这台电脑从账本的公开日志下载了该轮的结束记录，读出了您的所得，并核验它确实在账本签名的日志中。此后任何人更改或删除它都会被发现。</translation>
    </message>
    <message>
        <source>To check the whole ledger yourself, run:</source>
        <translation>要自行核验整个账本，请运行：</translation>
    </message>
    <message>
        <source>The command that checks it</source>
        <translation>核验所用的命令</translation>
    </message>
    <message>
        <source>The round is not closed yet, or its end was not found in the ledger's signed log yet. Its points count when this computer has checked that.</source>
        <translation>该轮尚未结束，或其结束记录还没有在账本签名的日志中找到。这台电脑核验之后，积分才会计入。</translation>
    </message>
    <message>
        <source>This round gave no points, so there is nothing to prove.</source>
        <translation>该轮没有产生积分，因此无需证明。</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>已复制</translation>
    </message>
</context>
<context>
    <name>RoundsCard</name>
    <message>
        <source>Run</source>
        <translation>训练任务</translation>
    </message>
    <message>
        <source>All runs</source>
        <translation>所有训练任务</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>All devices</source>
        <translation>所有设备</translation>
    </message>
    <message>
        <source>Rounds</source>
        <translation>轮次</translation>
    </message>
    <message>
        <source>Looking</source>
        <translation>正在查找</translation>
    </message>
    <message>
        <source>Reading the rounds of this key.</source>
        <translation>正在读取这把密钥的轮次。</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>Older rounds are read as you scroll.</source>
        <translation>滚动时会读取更早的轮次。</translation>
    </message>
    <message>
        <source>Couldn't load the rounds</source>
        <translation>无法加载轮次</translation>
    </message>
    <message>
        <source>No round of that run was worked in on that device.</source>
        <translation>没有用该设备参与过该任务的轮次。</translation>
    </message>
    <message>
        <source>No matches</source>
        <translation>没有匹配项</translation>
    </message>
    <message>
        <source>Each round that this computer takes part in will appear here, with what it gave and the proof.</source>
        <translation>这台电脑参与的每一轮都会显示在这里，包括所得和证明。</translation>
    </message>
    <message>
        <source>No round yet</source>
        <translation>还没有轮次</translation>
    </message>
</context>
<context>
    <name>RoundsRows</name>
    <message>
        <source>Round</source>
        <translation>轮次</translation>
    </message>
    <message>
        <source>When</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>Device, tokens</source>
        <translation>设备、token 数</translation>
    </message>
    <message>
        <source>Energy</source>
        <translation>用电</translation>
    </message>
    <message>
        <source>Points</source>
        <translation>积分</translation>
    </message>
    <message>
        <source>Proof</source>
        <translation>证明</translation>
    </message>
    <message>
        <source>Round {number}</source>
        <translation>第 {number} 轮</translation>
    </message>
    <message>
        <source>{count} tokens</source>
        <translation>{count} token</translation>
    </message>
    <message>
        <source>{points} as witness</source>
        <translation>见证所得 {points}</translation>
    </message>
    <message>
        <source>Proof checked by this computer: open to see what that means</source>
        <translation>证明已由这台电脑核验：打开查看其含义</translation>
    </message>
    <message>
        <source>No proof was checked yet</source>
        <translation>尚未核验证明</translation>
    </message>
</context>
<context>
    <name>RulesCard</name>
    <message>
        <source>Rules</source>
        <translation>规则</translation>
    </message>
    <message>
        <source>What an entrant may use</source>
        <translation>参赛方可用的资源</translation>
    </message>
    <message>
        <source>Texts that nobody has seen</source>
        <translation>无人见过的文本</translation>
    </message>
    <message>
        <source>How it is scored</source>
        <translation>如何评分</translation>
    </message>
    <message>
        <source>Why it can be believed</source>
        <translation>为什么可信</translation>
    </message>
    <message>
        <source>Training data</source>
        <translation>训练数据</translation>
    </message>
    <message>
        <source>Rules about training data</source>
        <translation>关于训练数据的规则</translation>
    </message>
    <message>
        <source>How many bits a model needs for each byte of the texts: fewer are better. Perplexity per byte is 2 to the power of these bits, and gives the same ranking. A model reads {window} tokens at a time, {stride} of them new. Entrants that cannot be told apart share a place.</source>
        <translation>模型表示每个字节的文本需要多少比特：越少越好。每字节困惑度是 2 的该比特数次方，排名相同。模型每次读取 {window} token，其中 {stride} 个是新的。无法区分高下的参赛方并列。</translation>
    </message>
    <message>
        <source>{evaluators} computers that are not involved in any entry are drawn by lot to score. For each text the median score counts, so one dishonest evaluator changes nothing, and everything is in the log.</source>
        <translation>从与各方无关的电脑中抽签选出 {evaluators} 台评分。每篇文本取中位分数，个别说谎者影响不了结果，而且一切都记录在日志中。</translation>
    </message>
    <message>
        <source>What may be trained on is written at this address:</source>
        <translation>可用于训练的数据见此地址：</translation>
    </message>
    <message>
        <source>These rules say nothing about what may be trained on.</source>
        <translation>规则没有限定可用于训练的数据。</translation>
    </message>
    <message>
        <source>A model has at most {count} parameters.</source>
        <translation>模型最多有 {count} 个参数。</translation>
    </message>
    <message>
        <source>Its run may train on {count} tokens.</source>
        <translation>其训练任务最多可训练 {count} token。</translation>
    </message>
    <message numerus="yes">
        <source>It has %n hour(s) from the opening of its run.</source>
        <translation>
            <numerusform>自训练任务开启起有 %n 小时。</numerusform>
        </translation>
    </message>
    <message>
        <source>Size, tokens and time have no limit.</source>
        <translation>不作限制：模型大小、token 数和时间都不限。</translation>
    </message>
    <message>
        <source>{texts} texts, {size}, were sealed before the competition was opened. Only after the deadline are {drawn} of them drawn by lot.</source>
        <translation>竞赛开启前密封了 {texts} 篇文本（{size}）。截止之后才抽签选出其中 {drawn} 篇。</translation>
    </message>
    <message>
        <source>One person alone holds the key to them and has to be trusted.</source>
        <translation>只有一个人持有解封密钥，只能信任此人。</translation>
    </message>
    <message>
        <source>The key to them is shared among {custodians} custodians; {needed} have to act together to open them.</source>
        <translation>解封密钥由 {custodians} 位保管人分持，需要 {needed} 位共同才能打开。</translation>
    </message>
</context>
<context>
    <name>RunChat</name>
    <message>
        <source>Try the model</source>
        <translation>试用模型</translation>
    </message>
    <message>
        <source>Opens {address} in the browser. It is a service of the organisers: nothing that it writes is checked by the network.</source>
        <translation>在浏览器中打开 {address}。这是组织者自己的服务：它写出的内容不经网络检查。</translation>
    </message>
</context>
<context>
    <name>RunChoice</name>
    <message>
        <source>Rounds done</source>
        <translation>已完成轮次</translation>
    </message>
    <message>
        <source>Yours</source>
        <translation>您的</translation>
    </message>
    <message>
        <source>Ended</source>
        <translation>已结束</translation>
    </message>
    <message>
        <source>Chosen</source>
        <translation>已选择</translation>
    </message>
    <message>
        <source>Full</source>
        <translation>已满</translation>
    </message>
    <message>
        <source>Round {number} of {rounds}</source>
        <translation>第 {number} 轮，共 {rounds} 轮</translation>
    </message>
    <message>
        <source>Round {number}</source>
        <translation>第 {number} 轮</translation>
    </message>
    <message numerus="yes">
        <source>%Ln volunteer(s)</source>
        <translation>
            <numerusform>%Ln 位志愿者</numerusform>
        </translation>
    </message>
    <message>
        <source>{members} of {most} volunteers</source>
        <translation>{members} / {most} 位志愿者</translation>
    </message>
</context>
<context>
    <name>RunCode</name>
    <message>
        <source>This run brings its own code: {name} {version} ({hash}).</source>
        <translation>此训练任务自带代码：{name} {version}（{hash}）。</translation>
    </message>
    <message>
        <source>You allowed it.</source>
        <translation>您已允许。</translation>
    </message>
    <message>
        <source>It needs your consent before it trains here.</source>
        <translation>在此训练之前需要您的同意。</translation>
    </message>
</context>
<context>
    <name>RunDetail</name>
    <message>
        <source>What joining means</source>
        <translation>加入意味着什么</translation>
    </message>
    <message>
        <source>Join this run</source>
        <translation>加入此训练任务</translation>
    </message>
    <message>
        <source>Stay on this run</source>
        <translation>留在此训练任务</translation>
    </message>
    <message>
        <source>What it needs</source>
        <translation>所需资源</translation>
    </message>
    <message>
        <source>Choose for me</source>
        <translation>自动选择</translation>
    </message>
    <message>
        <source>Tequio takes an open run that fits your device, your disk and the month's traffic; of several, the one with the most places free. When it ends, the next one is chosen the same way.</source>
        <translation>Tequio 会选择适合您的设备、磁盘和每月流量的开放任务；有多个时，选空位最多的。任务结束后以同样方式选择下一个。</translation>
    </message>
    <message>
        <source>Tequio chooses for you</source>
        <translation>由 Tequio 选择</translation>
    </message>
    <message>
        <source>This computer works for {run} now.</source>
        <translation>这台电脑正在为 {run} 工作。</translation>
    </message>
    <message>
        <source>Chosen</source>
        <translation>已选择</translation>
    </message>
    <message>
        <source>Ended</source>
        <translation>已结束</translation>
    </message>
    <message>
        <source>Take back my consent</source>
        <translation>撤回我的同意</translation>
    </message>
    <message>
        <source>Allow its code…</source>
        <translation>允许其代码…</translation>
    </message>
    <message>
        <source>This computer is in this run.</source>
        <translation>这台电脑在此训练任务中。</translation>
    </message>
    <message>
        <source>This run has ended. Its model and its log stay where they are.</source>
        <translation>此训练任务已结束。其模型和日志会保留在原处。</translation>
    </message>
    <message>
        <source>All places are taken. If you join, you wait until one is free.</source>
        <translation>名额已满。加入后需等到有空位。</translation>
    </message>
    <message>
        <source>Open to everyone whose device fits.</source>
        <translation>设备符合要求的人均可加入。</translation>
    </message>
    <message>
        <source>Joining downloads {first} once. While training, it uploads about {up} and downloads about {down} per hour; less while paused.</source>
        <translation>加入时一次性下载 {first}。训练期间每小时约上传 {up}、下载 {down}；暂停时更少。</translation>
    </message>
    <message>
        <source>After a day it uses about {disk} on the disk, or your storage limit.</source>
        <translation>一天后约占用磁盘 {disk}，或达到存储上限。</translation>
    </message>
    <message>
        <source>This computer would earn about {points} points a day.</source>
        <translation>这台电脑每天约可获得 {points} 积分。</translation>
    </message>
    <message>
        <source>The {left} left this month will not last for a day of lending.</source>
        <translation>本月剩余的 {left} 不够贡献一天。</translation>
    </message>
    <message numerus="yes">
        <source>The {left} left this month last for about %n day(s) of lending.</source>
        <translation>
            <numerusform>本月剩余的 {left} 约可贡献 %n 天。</numerusform>
        </translation>
    </message>
    <message>
        <source>Something here is less than this run needs, so this computer would wait. Raise a limit, or choose a run that fits.</source>
        <translation>这里有资源低于此任务的要求，因此这台电脑会等待。请提高上限，或选择合适的任务。</translation>
    </message>
    <message>
        <source>Your bandwidth limit is less than this run needs: some rounds may end without your work. Raise it in Settings, Network, or choose a run that fits.</source>
        <translation>带宽上限低于此任务的要求：有些轮次可能会在您的工作送达之前结束。请在“设置 › 网络”中提高，或选择合适的任务。</translation>
    </message>
    <message>
        <source>You chose this run. It stays chosen until you choose another.</source>
        <translation>您选择了此任务。在另选之前一直有效。</translation>
    </message>
    <message>
        <source>Tequio chose it for you, and may choose another when this one ends.</source>
        <translation>此任务由 Tequio 选择，结束后可能会选择另一个。</translation>
    </message>
    <message>
        <source>Joining leaves the run that you are in now; your points stay yours.</source>
        <translation>加入后会离开当前任务；积分仍归您所有。</translation>
    </message>
    <message numerus="yes">
        <source>This run needs {needed} of memory, and this computer lends {most}. One computer with %n card(s) like this one could train it: start a worker there by {command}.</source>
        <translation>
            <numerusform>此任务需要 {needed} 内存，而这台计算机提供 {most}。一台装有 %n 块这样的显卡的计算机可以训练它：请在那里启动工作进程（{command}）。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>This run needs {needed} of memory, and this computer lends {most}. %n computer(s) like this one could train it together: open a cell with others in your network by {command}.</source>
        <translation>
            <numerusform>此任务需要 {needed} 内存，而这台计算机提供 {most}。%n 台这样的计算机可以共同训练它：请与同一网络中的其他人组建计算单元（{command}）。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RunFigures</name>
    <message>
        <source>Parameters</source>
        <translation>参数</translation>
    </message>
    <message>
        <source>Tokens trained</source>
        <translation>已训练 token</translation>
    </message>
    <message>
        <source>Round</source>
        <translation>轮次</translation>
    </message>
    <message>
        <source>Volunteers</source>
        <translation>志愿者</translation>
    </message>
    <message>
        <source>{count} parameters</source>
        <translation>{count} 个参数</translation>
    </message>
    <message>
        <source>{count} parameters; {trained} of them are adapters, and trained</source>
        <translation>{count} 个参数；其中 {trained} 个属于适配器，会被训练</translation>
    </message>
</context>
<context>
    <name>RunNeeds</name>
    <message>
        <source>Learns from: {source}</source>
        <translation>学习材料：{source}</translation>
    </message>
    <message>
        <source>Licence of the model: {licence}</source>
        <translation>模型许可证：{licence}</translation>
    </message>
    <message>
        <source>Opened by: {keys}</source>
        <translation>开启者：{keys}</translation>
    </message>
    <message>
        <source>From the organisers: {text}</source>
        <translation>组织者通知：{text}</translation>
    </message>
    <message>
        <source>Paused: {text}</source>
        <translation>已暂停：{text}</translation>
    </message>
    <message>
        <source>Graphics memory</source>
        <translation>显存</translation>
    </message>
    <message>
        <source>No limit set</source>
        <translation>未设上限</translation>
    </message>
    <message>
        <source>Not known here</source>
        <translation>本机无法得知</translation>
    </message>
    <message>
        <source>of {most} on {device}</source>
        <translation>共 {most}，{device}</translation>
    </message>
    <message>
        <source>Fits</source>
        <translation>符合</translation>
    </message>
    <message>
        <source>Just fits</source>
        <translation>勉强符合</translation>
    </message>
    <message>
        <source>Does not fit</source>
        <translation>不符合</translation>
    </message>
    <message>
        <source>Not known yet</source>
        <translation>尚不清楚</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>of {most} free</source>
        <translation>可用 {most}</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>磁盘</translation>
    </message>
    <message>
        <source>of {most} your limits allow</source>
        <translation>上限内还剩 {most}</translation>
    </message>
    <message>
        <source>First download</source>
        <translation>首次下载</translation>
    </message>
    <message>
        <source>of {most} left this month</source>
        <translation>本月剩余 {most}</translation>
    </message>
    <message>
        <source>Upload per hour</source>
        <translation>每小时上传</translation>
    </message>
    <message>
        <source>of {most} your limit allows</source>
        <translation>上限为 {most}</translation>
    </message>
    <message>
        <source>Download per hour</source>
        <translation>每小时下载</translation>
    </message>
</context>
<context>
    <name>RunNewsCard</name>
    <message>
        <source>Choose the next run</source>
        <translation>选择下一个训练任务</translation>
    </message>
    <message>
        <source>Chat with the model</source>
        <translation>与模型对话</translation>
    </message>
    <message>
        <source>See the run's page</source>
        <translation>查看训练任务页面</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>关闭提示</translation>
    </message>
    <message>
        <source>No other open run fits this computer now. Tequio keeps looking.</source>
        <translation>目前没有其他适合这台电脑的开放训练任务。Tequio 会继续寻找。</translation>
    </message>
    <message>
        <source>Open runs that fit this computer: {names}.</source>
        <translation>适合这台电脑的开放训练任务：{names}。</translation>
    </message>
</context>
<context>
    <name>RunNewsTexts</name>
    <message>
        <source>{run} went back to round {round}</source>
        <translation>{run} 已退回到第 {round} 轮</translation>
    </message>
    <message>
        <source>{run} is complete</source>
        <translation>{run} 已完成</translation>
    </message>
    <message>
        <source>{run} has ended</source>
        <translation>{run} 已结束</translation>
    </message>
    <message>
        <source>In this network you are #{rank} of {ranked}.</source>
        <translation>您在此网络中排名第 {rank}（共 {ranked}）。</translation>
    </message>
    <message>
        <source>Its organisers gave up the rounds after that one, and training goes on from there. Your points stay yours.</source>
        <translation>组织者放弃了此后的轮次，训练将从该轮继续。您的积分仍归您所有。</translation>
    </message>
    <message>
        <source>It reached its last round, {round}.</source>
        <translation>已到达最后一轮，即第 {round} 轮。</translation>
    </message>
    <message>
        <source>It ended after {round} of {rounds} rounds.</source>
        <translation>共 {rounds} 轮，在第 {round} 轮后结束。</translation>
    </message>
    <message>
        <source>It ended after round {round}.</source>
        <translation>在第 {round} 轮后结束。</translation>
    </message>
    <message>
        <source>Its model went from {first} to {last} bits per byte of unseen text, or from perplexity {before} to {after} per byte.</source>
        <translation>模型在未见过的文本上从每字节 {first} 比特变为 {last} 比特，即每字节困惑度从 {before} 变为 {after}。</translation>
    </message>
    <message>
        <source>You earned {points} points in it.</source>
        <translation>您在其中获得了 {points} 积分。</translation>
    </message>
    <message numerus="yes">
        <source>You earned {points} points in %Ln accepted round(s).</source>
        <translation>
            <numerusform>您在 %Ln 个被接受的轮次中获得了 {points} 积分。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RunPublished</name>
    <message>
        <source>Published heads</source>
        <translation>已发布的模型</translation>
    </message>
</context>
<context>
    <name>RunStep</name>
    <message>
        <source>What would you like to train?</source>
        <translation>想训练什么？</translation>
    </message>
    <message>
        <source>A run is one model that many train together. You can switch at any time.</source>
        <translation>训练任务是由许多人共同训练的一个模型。可以随时更换。</translation>
    </message>
    <message>
        <source>The network is not answering, so its runs cannot be listed. You can go on: Tequio keeps trying, and joins the run that fits this computer best.</source>
        <translation>网络没有响应，无法列出训练任务。可以继续：Tequio 会继续尝试，并加入最适合这台电脑的任务。</translation>
    </message>
    <message>
        <source>Recommended</source>
        <translation>推荐</translation>
    </message>
    <message>
        <source>The open run that fits this computer and needs it most.</source>
        <translation>适合这台电脑且最需要它的开放任务。</translation>
    </message>
    <message>
        <source>Choose for me</source>
        <translation>自动选择</translation>
    </message>
    <message>
        <source>Full</source>
        <translation>已满</translation>
    </message>
    <message numerus="yes">
        <source>%Ln volunteer(s)</source>
        <translation>
            <numerusform>%Ln 位志愿者</numerusform>
        </translation>
    </message>
    <message>
        <source>{memory} of memory</source>
        <translation>{memory} 内存</translation>
    </message>
    <message>
        <source>{data} to download once</source>
        <translation>一次性下载 {data}</translation>
    </message>
    <message>
        <source>{data} up per hour</source>
        <translation>每小时上传 {data}</translation>
    </message>
    <message>
        <source>round {number} of {rounds}</source>
        <translation>第 {number} 轮，共 {rounds} 轮</translation>
    </message>
</context>
<context>
    <name>RunWriting</name>
    <message>
        <source>What the model writes</source>
        <translation>模型写出的文字</translation>
    </message>
    <message>
        <source>Held-out text</source>
        <translation>预留文本</translation>
    </message>
    <message>
        <source>The model continues</source>
        <translation>模型续写</translation>
    </message>
    <message>
        <source>After round {number}. Generated by the model; not anyone's opinion.</source>
        <translation>第 {number} 轮之后。由模型生成，不代表任何人的观点。</translation>
    </message>
    <message>
        <source>Nothing: to the model the text ends there.</source>
        <translation>没有内容：模型认为文本到此为止。</translation>
    </message>
</context>
<context>
    <name>RunsPage</name>
    <message>
        <source>Runs</source>
        <translation>训练任务</translation>
    </message>
    <message>
        <source>Each run trains one model, round by round.</source>
        <translation>每个训练任务一轮一轮地训练一个模型。</translation>
    </message>
    <message>
        <source>Runs to choose from</source>
        <translation>可选的训练任务</translation>
    </message>
    <message>
        <source>Join a network…</source>
        <translation>加入网络…</translation>
    </message>
    <message>
        <source>Each run trains one model, round by round. Updated {ago}.</source>
        <translation>每个训练任务一轮一轮地训练一个模型。列表读取于{ago}。</translation>
    </message>
    <message>
        <source>The run that you chose is open, but its rules could not be read, so it is not in this list. Tequio keeps trying.</source>
        <translation>您选择的训练任务是开放的，但无法读取其规则，因此不在此列表中。Tequio 会继续尝试。</translation>
    </message>
    <message>
        <source>The run that you chose is no longer open, so Tequio chooses for you.</source>
        <translation>您选择的训练任务已不再开放，因此由 Tequio 为您选择。</translation>
    </message>
    <message>
        <source>No run is open now. Tequio keeps looking and joins when one opens: there is nothing to do.</source>
        <translation>目前没有开放的训练任务。Tequio 会继续查找，一有开放就加入：无需任何操作。</translation>
    </message>
    <message>
        <source>No network yet</source>
        <translation>还没有网络</translation>
    </message>
    <message>
        <source>Runs belong to a network. Choose one with Join a network.</source>
        <translation>训练任务属于某个网络。请用“加入网络”选择一个。</translation>
    </message>
    <message>
        <source>The rules of the open runs could not be read. Tequio keeps trying.</source>
        <translation>无法读取开放的训练任务的规则。Tequio 会继续尝试。</translation>
    </message>
    <message>
        <source>Couldn't load the runs</source>
        <translation>无法加载训练任务</translation>
    </message>
    <message>
        <source>No run yet</source>
        <translation>还没有训练任务</translation>
    </message>
    <message>
        <source>{problem}. Tequio will keep trying.</source>
        <translation>{problem}。Tequio 会继续尝试。</translation>
    </message>
    <message>
        <source>Asking the network which runs there are.</source>
        <translation>正在向网络查询有哪些训练任务。</translation>
    </message>
    <message>
        <source>Looking for runs</source>
        <translation>正在查找训练任务</translation>
    </message>
</context>
<context>
    <name>SamplePanel</name>
    <message>
        <source>Bits per byte</source>
        <translation>每字节比特数</translation>
    </message>
    <message>
        <source>Perplexity</source>
        <translation>困惑度</translation>
    </message>
    <message>
        <source>{name}: after round {number}</source>
        <translation>{name}：第 {number} 轮之后</translation>
    </message>
    <message>
        <source>Nothing: to the model the text ends there.</source>
        <translation>没有内容：模型认为文本到此为止。</translation>
    </message>
    <message>
        <source>Nobody reported what this round's model writes.</source>
        <translation>没有人报告这一轮的模型写了什么。</translation>
    </message>
    <message>
        <source>{task}: {percent} of answers right ({chance} by guessing)</source>
        <translation>{task}：答对 {percent}（随机猜测为 {chance}）</translation>
    </message>
    <message>
        <source>Worse than after round {number}</source>
        <translation>不如第 {number} 轮之后</translation>
    </message>
    <message>
        <source>Measured, not worse</source>
        <translation>已测量，正常</translation>
    </message>
    <message>
        <source>Too few members agree on these figures so far</source>
        <translation>目前对这些数字意见一致的成员太少</translation>
    </message>
</context>
<context>
    <name>SamplesCard</name>
    <message>
        <source>What the model writes</source>
        <translation>模型写出的文字</translation>
    </message>
    <message>
        <source>Earlier round</source>
        <translation>较早的轮次</translation>
    </message>
    <message>
        <source>Beginning of a text that the model has never seen</source>
        <translation>模型从未见过的文本的开头</translation>
    </message>
    <message>
        <source>Earlier</source>
        <translation>较早</translation>
    </message>
    <message>
        <source>Newest</source>
        <translation>最新</translation>
    </message>
    <message>
        <source>Each measure continues another text, so these two differ.</source>
        <translation>每次测量续写不同的文本，所以这两段不同。</translation>
    </message>
    <message>
        <source>Bits per byte: how much of an unseen text the model cannot guess. Perplexity: roughly how many words it is choosing between. Lower is better for both. The texts are generated by the model; they are not anyone's opinion.</source>
        <translation>每字节比特数：模型猜不出的未见文本有多少。困惑度：可以说是模型在多少个词之间犹豫。两者都是越低越好。文字由模型生成，不代表任何人的观点。</translation>
    </message>
    <message>
        <source>The newest model, after round {number}, has not been measured yet. The chat uses it.</source>
        <translation>最新的模型（第 {number} 轮之后）尚未测量。聊天使用的就是它。</translation>
    </message>
    <message>
        <source>Round {number}</source>
        <translation>第 {number} 轮</translation>
    </message>
</context>
<context>
    <name>ScheduleStep</name>
    <message>
        <source>When may Tequio use this computer?</source>
        <translation>Tequio 可以在何时使用这台电脑？</translation>
    </message>
    <message>
        <source>Unless you change this in Settings, it stops for games, on battery and on metered networks, and aims for at most 80 °C where the device reports its temperature.</source>
        <translation>除非您在设置中更改，玩游戏、使用电池和按流量计费的网络时都会停止；如果设备报告温度，则力求不超过 80 °C。</translation>
    </message>
    <message>
        <source>When to lend</source>
        <translation>何时贡献</translation>
    </message>
    <message>
        <source>Gentle</source>
        <translation>温和</translation>
    </message>
    <message>
        <source>After 15 minutes without input. Films pause it too.</source>
        <translation>15 分钟无操作之后。看视频时也暂停。</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>均衡</translation>
    </message>
    <message>
        <source>After 5 minutes without input. This suits most people.</source>
        <translation>5 分钟无操作之后。适合大多数人。</translation>
    </message>
    <message>
        <source>Max</source>
        <translation>最大</translation>
    </message>
    <message>
        <source>After 1 minute, and at 30% of the time while you use it.</source>
        <translation>1 分钟之后；使用电脑时以 30% 的时间运行。</translation>
    </message>
    <message>
        <source>Start when I log in</source>
        <translation>登录时启动</translation>
    </message>
    <message>
        <source>Starts minimised to the tray. Otherwise you have to start Tequio yourself.</source>
        <translation>启动后最小化到托盘。否则需要自行启动 Tequio。</translation>
    </message>
</context>
<context>
    <name>SettingsPage</name>
    <message>
        <source>Sections</source>
        <translation>分类</translation>
    </message>
    <message>
        <source>Search settings</source>
        <translation>搜索设置</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>搜索</translation>
    </message>
    <message>
        <source>No results</source>
        <translation>没有结果</translation>
    </message>
    <message>
        <source>No setting mentions these words.</source>
        <translation>没有标题或说明含有这些词的设置。</translation>
    </message>
</context>
<context>
    <name>SetupButton</name>
    <message>
        <source>Open setup</source>
        <translation>打开初始设置</translation>
    </message>
</context>
<context>
    <name>ShareDialog</name>
    <message>
        <source>Share</source>
        <translation>分享</translation>
    </message>
    <message>
        <source>Everyone can see this page. Chats and social networks show its picture beside the link.</source>
        <translation>所有人都能看到此页面。聊天软件和社交网络会在链接旁显示它的图片。</translation>
    </message>
    <message>
        <source>Save the picture…</source>
        <translation>保存图片…</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Your points</source>
        <translation>您的积分</translation>
    </message>
    <message>
        <source>Your team</source>
        <translation>您的团队</translation>
    </message>
    <message>
        <source>Your run</source>
        <translation>您的训练</translation>
    </message>
    <message>
        <source>Page</source>
        <translation>页面</translation>
    </message>
    <message>
        <source>Link</source>
        <translation>链接</translation>
    </message>
    <message>
        <source>Open the page</source>
        <translation>打开页面</translation>
    </message>
    <message>
        <source>Save the picture</source>
        <translation>保存图片</translation>
    </message>
    <message>
        <source>PNG picture (*.png)</source>
        <translation>PNG 图片 (*.png)</translation>
    </message>
    <message>
        <source>The picture is in {file}.</source>
        <translation>图片已保存到 {file}。</translation>
    </message>
</context>
<context>
    <name>SideBar</name>
    <message>
        <source>Join a network…</source>
        <translation>加入网络…</translation>
    </message>
</context>
<context>
    <name>SideRow</name>
    <message>
        <source>Submitted</source>
        <translation>参赛模型</translation>
    </message>
    <message>
        <source>You earned {points} points for it</source>
        <translation>您在其中获得 {points} 积分</translation>
    </message>
    <message>
        <source>Yours</source>
        <translation>您的</translation>
    </message>
    <message>
        <source>Chosen</source>
        <translation>已选择</translation>
    </message>
    <message>
        <source>Round {number} of {rounds}</source>
        <translation>第 {number} 轮，共 {rounds} 轮</translation>
    </message>
    <message numerus="yes">
        <source>%Ln volunteer(s)</source>
        <translation>
            <numerusform>%Ln 位志愿者</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SidesCard</name>
    <message>
        <source>Entrants</source>
        <translation>参赛方</translation>
    </message>
    <message>
        <source>training loss by round</source>
        <translation>各轮训练损失</translation>
    </message>
    <message>
        <source>Training loss of each entrant by round</source>
        <translation>各参赛方每轮的训练损失</translation>
    </message>
    <message>
        <source>As the trainers report it. The winner is decided on texts that nobody has seen.</source>
        <translation>由训练者报告。胜负由无人见过的文本决定。</translation>
    </message>
    <message>
        <source>Entrants to choose from</source>
        <translation>可选的参赛方</translation>
    </message>
    <message>
        <source>Nobody has entered yet.</source>
        <translation>还没有参赛方。</translation>
    </message>
    <message>
        <source>Models that were trained elsewhere: {names}</source>
        <translation>在别处训练的模型：{names}</translation>
    </message>
    <message>
        <source>{name}: {loss} in round {number}</source>
        <translation>{name}：第 {number} 轮为 {loss}</translation>
    </message>
    <message>
        <source>No round has been closed yet. The curves begin with the first.</source>
        <translation>还没有轮次结束。曲线从第一轮开始。</translation>
    </message>
    <message>
        <source>Couldn't load the curves: {problem}.</source>
        <translation>无法加载曲线：{problem}。</translation>
    </message>
    <message>
        <source>Asking the network how the entrants are doing.</source>
        <translation>正在向账本查询各方的进展。</translation>
    </message>
</context>
<context>
    <name>SnoozeMenu</name>
    <message>
        <source>Snooze</source>
        <translation>暂停片刻</translation>
    </message>
    <message>
        <source>15 minutes</source>
        <translation>15 分钟</translation>
    </message>
    <message>
        <source>1 hour</source>
        <translation>1 小时</translation>
    </message>
    <message>
        <source>Until tomorrow</source>
        <translation>直到明天</translation>
    </message>
    <message>
        <source>Until I close {game}</source>
        <translation>直到我关闭 {game}</translation>
    </message>
    <message>
        <source>Until I close this game</source>
        <translation>直到我关闭这个游戏</translation>
    </message>
</context>
<context>
    <name>StandingChip</name>
    <message>
        <source>Not known yet</source>
        <translation>尚不清楚</translation>
    </message>
    <message>
        <source>Shown once this computer has joined the network.</source>
        <translation>这台电脑加入网络后显示。</translation>
    </message>
    <message>
        <source>Ended</source>
        <translation>已结束</translation>
    </message>
    <message>
        <source>Log entry {entry} ended this key: it can do nothing more.</source>
        <translation>日志条目 {entry} 终止了这把密钥：它不能再做任何事。</translation>
    </message>
    <message>
        <source>Excluded</source>
        <translation>已排除</translation>
    </message>
    <message>
        <source>No round accepts your key now ({why}). Activity explains what you can do.</source>
        <translation>现在没有轮次接受您的密钥（{why}）。“活动”中说明了可以做什么。</translation>
    </message>
    <message>
        <source>New</source>
        <translation>新加入</translation>
    </message>
    <message>
        <source>Ten accepted contributions make your key a full member.</source>
        <translation>十次训练更新被接受后，您的密钥就成为正式成员。</translation>
    </message>
    <message>
        <source>Good</source>
        <translation>良好</translation>
    </message>
    <message>
        <source>Changed</source>
        <translation>有变化</translation>
    </message>
    <message>
        <source>Activity explains what has happened.</source>
        <translation>“活动”中说明了发生的事情。</translation>
    </message>
</context>
<context>
    <name>StatCard</name>
    <message>
        <source>{points} points</source>
        <translation>{points} 积分</translation>
    </message>
</context>
<context>
    <name>Stats</name>
    <message>
        <source>Points today</source>
        <translation>今日积分</translation>
    </message>
    <message>
        <source>Total points</source>
        <translation>总积分</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>名次</translation>
    </message>
    <message>
        <source>Energy today</source>
        <translation>今日用电</translation>
    </message>
    <message numerus="yes">
        <source>%n round(s) pending</source>
        <translation>
            <numerusform>%n 轮待确认</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing pending</source>
        <translation>没有待确认</translation>
    </message>
    <message>
        <source>About {points} a day</source>
        <translation>每天约 {points}</translation>
    </message>
    <message>
        <source>{points} still to be checked</source>
        <translation>{points} 仍待核验</translation>
    </message>
    <message>
        <source>Every proof checked here</source>
        <translation>所有证明均已在本机核验</translation>
    </message>
    <message>
        <source>None yet</source>
        <translation>暂无</translation>
    </message>
    <message numerus="yes">
        <source>of %Ln volunteer(s)</source>
        <translation>
            <numerusform>共 %Ln 位志愿者</numerusform>
        </translation>
    </message>
    <message>
        <source>After your first verified round</source>
        <translation>首个已验证轮次之后</translation>
    </message>
    <message>
        <source>Not measured here</source>
        <translation>本机未测量</translation>
    </message>
    <message>
        <source>{energy} in total</source>
        <translation>共 {energy}</translation>
    </message>
    <message>
        <source>Estimated, {total}</source>
        <translation>估算，共 {total}</translation>
    </message>
</context>
<context>
    <name>TeamControl</name>
    <message>
        <source>Join or found…</source>
        <translation>加入或创建…</translation>
    </message>
    <message>
        <source>Team {number}</source>
        <translation>团队 {number}</translation>
    </message>
    <message>
        <source>Open…</source>
        <translation>打开…</translation>
    </message>
</context>
<context>
    <name>TeamDialog</name>
    <message>
        <source>Look at the team</source>
        <translation>查看团队</translation>
    </message>
    <message>
        <source>Found the team</source>
        <translation>创建团队</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Team</source>
        <translation>团队</translation>
    </message>
    <message>
        <source>What you earn in a team also counts for the team. What you earned for it stays with it when you leave.</source>
        <translation>您在团队中获得的积分也计入团队。离开后，您已为团队获得的积分仍留在团队。</translation>
    </message>
    <message>
        <source>Join the team “{team}”?</source>
        <translation>加入团队“{team}”？</translation>
    </message>
    <message>
        <source>Its owner, {owner}, invites everyone who has this link.</source>
        <translation>团队负责人 {owner} 邀请所有持有此链接的人。</translation>
    </message>
    <message>
        <source>Join the team</source>
        <translation>加入团队</translation>
    </message>
    <message numerus="yes">
        <source>%n member(s)</source>
        <translation>
            <numerusform>%n 名成员</numerusform>
        </translation>
    </message>
    <message>
        <source>{points} points so far</source>
        <translation>目前共 {points} 积分</translation>
    </message>
    <message>
        <source>Everyone can see that you are in the team, and what you earn for it.</source>
        <translation>所有人都能看到您在此团队中，以及您为它获得的积分。</translation>
    </message>
    <message>
        <source>Your points stay yours. They also count for the team, from now on.</source>
        <translation>积分仍归您所有。从现在起也计入团队。</translation>
    </message>
    <message>
        <source>The owner can remove you; you can leave at any time.</source>
        <translation>负责人可以将您移除；您可以随时离开。</translation>
    </message>
    <message>
        <source>You are in another team. Leave it before you join this one.</source>
        <translation>您在另一个团队中。请先离开，再加入此团队。</translation>
    </message>
    <message>
        <source>You own this team.</source>
        <translation>您是此团队的负责人。</translation>
    </message>
    <message>
        <source>Its owner is {owner}.</source>
        <translation>负责人是 {owner}。</translation>
    </message>
    <message>
        <source>{points} points</source>
        <translation>{points} 积分</translation>
    </message>
    <message>
        <source>What you earned for the team stays with it.</source>
        <translation>您为团队获得的积分仍留在团队。</translation>
    </message>
    <message>
        <source>The member that joined first becomes its owner.</source>
        <translation>最早加入的成员将成为负责人。</translation>
    </message>
    <message>
        <source>You are its last member: the team ends for good.</source>
        <translation>您是最后一名成员：团队将永久终止。</translation>
    </message>
    <message>
        <source>Leave the team?</source>
        <translation>离开团队？</translation>
    </message>
    <message>
        <source>Leave the team</source>
        <translation>离开团队</translation>
    </message>
    <message>
        <source>Hand the team over to {name}?</source>
        <translation>将团队移交给 {name}？</translation>
    </message>
    <message>
        <source>You stay a member, and cannot take the team back.</source>
        <translation>您仍是成员，但无法收回团队。</translation>
    </message>
    <message>
        <source>Hand over</source>
        <translation>移交</translation>
    </message>
    <message>
        <source>Remove {name} from the team?</source>
        <translation>将 {name} 移出团队？</translation>
    </message>
    <message>
        <source>The join link stops working, as {name} has it. Points stay.</source>
        <translation>因为 {name} 持有加入链接，该链接将失效。积分保留。</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>移除</translation>
    </message>
    <message>
        <source>Team {number}</source>
        <translation>团队 {number}</translation>
    </message>
</context>
<context>
    <name>TimelineCard</name>
    <message>
        <source>Events to show</source>
        <translation>显示的事件</translation>
    </message>
    <message>
        <source>All</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>Rounds</source>
        <translation>轮次</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>需要处理</translation>
    </message>
    <message>
        <source>Search in events</source>
        <translation>搜索事件</translation>
    </message>
    <message>
        <source>Events</source>
        <translation>事件</translation>
    </message>
    <message>
        <source>Looking</source>
        <translation>正在查找</translation>
    </message>
    <message>
        <source>Reading recent events.</source>
        <translation>正在读取最近发生的事。</translation>
    </message>
    <message>
        <source>Couldn't load the events</source>
        <translation>无法加载事件</translation>
    </message>
    <message>
        <source>Older events are being read.</source>
        <translation>正在读取更早的事件。</translation>
    </message>
    <message>
        <source>No matches</source>
        <translation>没有匹配项</translation>
    </message>
    <message>
        <source>No event fits the filter and the search.</source>
        <translation>没有符合筛选和搜索的事件。</translation>
    </message>
    <message>
        <source>Nothing happened yet</source>
        <translation>还没有发生任何事</translation>
    </message>
    <message>
        <source>What this computer does for the swarm will be listed here.</source>
        <translation>这台电脑为网络所做的事会以文字显示在这里。</translation>
    </message>
</context>
<context>
    <name>Tray</name>
    <message>
        <source>Join a network…</source>
        <translation>加入网络…</translation>
    </message>
    <message>
        <source>Open Tequio</source>
        <translation>打开 Tequio</translation>
    </message>
    <message>
        <source>Quit – stops lending</source>
        <translation>退出 – 停止贡献</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>退出</translation>
    </message>
    <message>
        <source>Contribute</source>
        <translation>开始贡献</translation>
    </message>
    <message>
        <source>Set up …</source>
        <translation>初始设置…</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>暂停</translation>
    </message>
    <message>
        <source>Resume now</source>
        <translation>立即继续</translation>
    </message>
    <message>
        <source>Go on after this round</source>
        <translation>本轮之后继续</translation>
    </message>
    <message>
        <source>Finish round, then stop</source>
        <translation>完成本轮后停止</translation>
    </message>
</context>
<context>
    <name>UndoToast</name>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
</context>
<context>
    <name>UnlockDialog</name>
    <message>
        <source>Your key is sealed</source>
        <translation>您的密钥已加密</translation>
    </message>
    <message>
        <source>Nothing is lent before you give its passphrase. It is kept until you quit.</source>
        <translation>输入密码短语之前不会贡献算力。退出之前会一直记住它。</translation>
    </message>
    <message>
        <source>Unlock</source>
        <translation>解锁</translation>
    </message>
    <message>
        <source>Passphrase</source>
        <translation>密码短语</translation>
    </message>
</context>
<context>
    <name>UsageMeters</name>
    <message>
        <source>VRAM</source>
        <translation>显存</translation>
    </message>
    <message>
        <source>Upload</source>
        <translation>上传</translation>
    </message>
    <message>
        <source>Traffic</source>
        <translation>流量</translation>
    </message>
    <message>
        <source>Downloaded and uploaded this month, of your monthly limit</source>
        <translation>本月的下载和上传量（占每月上限）</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>磁盘</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
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
        <translation>在您使用电脑时，设备会有 {share} 的时间处于忙碌状态。噪音和用电会增加，视频或滚动可能卡顿。游戏和视频的规则仍然适用。</translation>
    </message>
</context>
<context>
    <name>UsedSwitch</name>
    <message>
        <source>Lend while I use the computer</source>
        <translation>使用电脑时也贡献</translation>
    </message>
</context>
<context>
    <name>WeekEditor</name>
    <message>
        <source>Hours in which to lend</source>
        <translation>可以贡献的时段</translation>
    </message>
    <message>
        <source>Hours</source>
        <translation>时段</translation>
    </message>
    <message>
        <source>Always</source>
        <translation>始终</translation>
    </message>
    <message>
        <source>Nights</source>
        <translation>夜间</translation>
    </message>
    <message>
        <source>Outside office hours</source>
        <translation>办公时间以外</translation>
    </message>
    <message>
        <source>Custom</source>
        <translation>自定义</translation>
    </message>
    <message>
        <source>No hour is selected, so nothing is ever lent.</source>
        <translation>没有选择任何时段，因此永远不会贡献。</translation>
    </message>
    <message>
        <source>Hours changed.</source>
        <translation>时段已更改。</translation>
    </message>
</context>
<context>
    <name>WeekGrid</name>
    <message>
        <source>may lend</source>
        <translation>可以贡献</translation>
    </message>
    <message>
        <source>does not lend</source>
        <translation>不贡献</translation>
    </message>
</context>
<context>
    <name>WelcomeStep</name>
    <message>
        <source>Lend your idle computer to open models</source>
        <translation>用闲置的电脑助力开放模型</translation>
    </message>
    <message>
        <source>Tequio trains open language models on the computers of volunteers, while nobody needs them. Nothing is lent before you agree to it at the end.</source>
        <translation>Tequio 利用志愿者电脑的空闲时间训练开放的语言模型。在最后一步征得您同意之前，不会贡献任何算力。</translation>
    </message>
    <message>
        <source>Stops when you play</source>
        <translation>玩游戏时停止</translation>
    </message>
    <message>
        <source>Starting a game or going full screen stops it within seconds and frees all GPU memory.</source>
        <translation>启动游戏或进入全屏后，几秒内就会停止，并释放全部显存。</translation>
    </message>
    <message>
        <source>Points you can check</source>
        <translation>可以核验的积分</translation>
    </message>
    <message>
        <source>Each round gives compute points. Your computer checks every proof.</source>
        <translation>每一轮都会带来算力积分。您的电脑会核验每一份证明。</translation>
    </message>
    <message>
        <source>Keeps to itself</source>
        <translation>不越界</translation>
    </message>
    <message>
        <source>It reads none of your files. Settings lists all that it sends.</source>
        <translation>不读取您的任何文件。设置中列出了它发送的全部内容。</translation>
    </message>
</context>
<context>
    <name>WordsGrid</name>
    <message>
        <source>The 24 words</source>
        <translation>24 个单词</translation>
    </message>
    <message>
        <source>24 words, hidden</source>
        <translation>24 个单词，已隐藏</translation>
    </message>
</context>
<context>
    <name>WorkerLogCard</name>
    <message>
        <source>Log of the worker</source>
        <translation>工作进程日志</translation>
    </message>
    <message>
        <source>For troubleshooting. Copying adds what the app sees, but no key and no password.</source>
        <translation>用于查找故障。复制时会附上应用看到的信息；不含密钥和密码。</translation>
    </message>
    <message>
        <source>Last lines of the log</source>
        <translation>日志的最后几行</translation>
    </message>
    <message>
        <source>The worker has not logged anything yet.</source>
        <translation>工作进程还没有输出任何内容。</translation>
    </message>
    <message>
        <source>Copy diagnostics</source>
        <translation>复制诊断信息</translation>
    </message>
    <message>
        <source>Diagnostics copied: paste them into your report</source>
        <translation>诊断信息已复制：请粘贴到报告中</translation>
    </message>
</context>
<context>
    <name>WorkerProcess</name>
    <message>
        <source>The worker is not running.</source>
        <translation>工作进程没有运行。</translation>
    </message>
    <message>
        <source>The worker has ended.</source>
        <translation>工作进程已结束。</translation>
    </message>
    <message>
        <source>The worker failed {tries} times in a row, the last time so: {why}</source>
        <translation>工作进程连续失败 {tries} 次，最后一次的原因：{why}</translation>
    </message>
    <message>
        <source>{why} It is started again.</source>
        <translation>{why}正在重新启动。</translation>
    </message>
</context>
<context>
    <name>checks</name>
    <message>
        <source>Graphics card</source>
        <translation>显卡</translation>
    </message>
    <message>
        <source>Driver</source>
        <translation>驱动</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>磁盘</translation>
    </message>
    <message>
        <source>Network</source>
        <translation>网络</translation>
    </message>
    <message>
        <source>Looking…</source>
        <translation>正在检测…</translation>
    </message>
    <message>
        <source>Its probe has not answered. Tequio keeps asking; you can go on.</source>
        <translation>检测程序还没有响应。Tequio 会继续询问；可以先继续。</translation>
    </message>
    <message>
        <source>None that can train was found. {processor} with {cores} cores can help too.</source>
        <translation>没有找到能训练的显卡。{processor}（{cores} 个核心）也能出力。</translation>
    </message>
    <message>
        <source>{card} does not say how much memory it has.</source>
        <translation>{card} 没有报告显存大小。</translation>
    </message>
    <message>
        <source>{card} has {memory}: too little to train most models.</source>
        <translation>{card} 有 {memory}：不够训练大多数模型。</translation>
    </message>
    <message>
        <source>{card} with {memory}, of which at most {usable} are used.</source>
        <translation>{card}，{memory}，最多使用其中 {usable}。</translation>
    </message>
    <message>
        <source>Its probe has not answered yet.</source>
        <translation>检测程序还没有响应。</translation>
    </message>
    <message>
        <source>None is needed for the processor.</source>
        <translation>处理器不需要驱动。</translation>
    </message>
    <message>
        <source>It does not say its version. The first start will show it.</source>
        <translation>没有报告版本。首次启动时便知。</translation>
    </message>
    <message>
        <source>Version {driver} is too old to train: install {oldest} or newer, then restart.</source>
        <translation>版本 {driver} 太旧，无法训练：请安装 {oldest} 或更新的版本，然后重启。</translation>
    </message>
    <message>
        <source>Version {driver} can train.</source>
        <translation>版本 {driver} 可以训练。</translation>
    </message>
    <message>
        <source>It is not known how much is free.</source>
        <translation>无法得知还有多少可用空间。</translation>
    </message>
    <message>
        <source>{free} GB are free. Tequio takes {store} GB at most, and {stays} stay free.</source>
        <translation>可用 {free} GB。Tequio 最多占用 {store} GB，保留 {stays} GB。</translation>
    </message>
    <message>
        <source>{free} GB are free. {stays} stay free, so Tequio has {store} GB: some runs fit.</source>
        <translation>可用 {free} GB。保留 {stays} GB，Tequio 可用 {store} GB：适合部分训练任务。</translation>
    </message>
    <message>
        <source>Only {free} GB are free and {wanted} are needed, of which {stays} stay free: make room before lending.</source>
        <translation>只有 {free} GB 可用，需要 {wanted} GB，其中 {stays} GB 保留不用：请先腾出空间再贡献。</translation>
    </message>
    <message>
        <source>You choose the network in step 5.</source>
        <translation>在第 5 步选择网络。</translation>
    </message>
    <message>
        <source>You join “{network}” by your invitation.</source>
        <translation>您将凭邀请加入“{network}”。</translation>
    </message>
    <message>
        <source>The network does not answer now. You can go on: Tequio keeps trying.</source>
        <translation>网络目前没有响应。可以继续：Tequio 会继续尝试。</translation>
    </message>
    <message>
        <source>The network answers. No run is open now; one will be joined.</source>
        <translation>网络有响应。目前没有开放的训练任务；一有开放就会加入。</translation>
    </message>
    <message numerus="yes">
        <source>The network answers, and %n run(s) are open.</source>
        <translation>
            <numerusform>网络有响应，有 %n 个开放的训练任务。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>competitions</name>
    <message>
        <source>Announced</source>
        <translation>已公布</translation>
    </message>
    <message>
        <source>Under way</source>
        <translation>进行中</translation>
    </message>
    <message>
        <source>Deadline over</source>
        <translation>已截止</translation>
    </message>
    <message>
        <source>Closed</source>
        <translation>提交已关闭</translation>
    </message>
    <message>
        <source>Being opened</source>
        <translation>正在解封</translation>
    </message>
    <message>
        <source>Being scored</source>
        <translation>评分中</translation>
    </message>
    <message>
        <source>Being checked</source>
        <translation>核验中</translation>
    </message>
    <message>
        <source>Decided</source>
        <translation>结果已出</translation>
    </message>
    <message>
        <source>No ranking</source>
        <translation>无排名</translation>
    </message>
    <message>
        <source>It has not begun yet. Join an entrant's run now to train from the start.</source>
        <translation>尚未开始。现在加入一方，即可从头参与训练。</translation>
    </message>
    <message>
        <source>The entrants are training. The last submission of each before the deadline counts.</source>
        <translation>各方正在训练。以各方在截止前最后提交的版本为准。</translation>
    </message>
    <message>
        <source>The deadline is over. The ledger closes the competition any moment.</source>
        <translation>已经截止。账本随时会结束竞赛。</translation>
    </message>
    <message>
        <source>Nothing can be submitted any more. Every volunteer evaluator draws a lot, which nobody can choose. The lots decide who scores, and on which texts.</source>
        <translation>不能再提交了。每位志愿评测者各自抽签，签号谁也无法挑选。抽签决定由谁评分、用哪些文本评分。</translation>
    </message>
    <message>
        <source>The custodians reveal their parts of the key. Any {needed} of the {custodians} parts open the texts.</source>
        <translation>保管人正在出示各自的密钥份额：{custodians} 份中有 {needed} 份即可打开文本。</translation>
    </message>
    <message>
        <source>The texts are open. Evaluators, drawn by lot, score each entrant on them, and commit to their scores before anyone reveals any.</source>
        <translation>文本已打开。抽签选出的评测者用它们为各方评分，并在公开任何评分之前先对自己的评分作出承诺。</translation>
    </message>
    <message>
        <source>Evaluators reveal the scores that they committed to. Until the result, anyone may score a model again and challenge a score.</source>
        <translation>评测者正在公开已承诺的评分。结果出来之前，任何人都可以重新评分并提出质疑。</translation>
    </message>
    <message>
        <source>The result stands, and anyone can check it from the log alone.</source>
        <translation>结果已定，任何人都可以仅凭日志核验。</translation>
    </message>
    <message>
        <source>It ended without a ranking: too few custodians revealed their parts of the key in time, or there was nobody to score.</source>
        <translation>竞赛结束，没有排名：及时出示密钥份额的保管人太少，或者无人评分。</translation>
    </message>
    <message>
        <source>It ended without a ranking: too few of those who were drawn scored the entrants in time.</source>
        <translation>竞赛结束，没有排名：被抽中的人中，及时完成评分的太少。</translation>
    </message>
    <message>
        <source>until it begins</source>
        <translation>距开始</translation>
    </message>
    <message>
        <source>until the deadline</source>
        <translation>距截止</translation>
    </message>
    <message>
        <source>until the draw</source>
        <translation>距抽签</translation>
    </message>
    <message>
        <source>until all must be scored</source>
        <translation>距评分截止</translation>
    </message>
    <message>
        <source>until the result</source>
        <translation>距公布结果</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>开始</translation>
    </message>
    <message>
        <source>Deadline</source>
        <translation>截止</translation>
    </message>
    <message>
        <source>Draw</source>
        <translation>抽签</translation>
    </message>
    <message>
        <source>Scores</source>
        <translation>评分</translation>
    </message>
    <message>
        <source>Result</source>
        <translation>结果</translation>
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
        <translation>约等于一块 {card} 工作 {time}</translation>
    </message>
    <message>
        <source>about {time} on an {card}</source>
        <translation>约合 {card} 工作 {time}</translation>
    </message>
    <message>
        <source>{n} s</source>
        <translation>{n} 秒</translation>
    </message>
    <message>
        <source>{n} min</source>
        <translation>{n} 分钟</translation>
    </message>
    <message>
        <source>{n} h</source>
        <translation>{n} 小时</translation>
    </message>
    <message>
        <source>{n} days</source>
        <translation>{n} 天</translation>
    </message>
    <message>
        <source>{number}%</source>
        <translation>{number}%</translation>
    </message>
    <message numerus="yes">
        <source>%n byte(s)</source>
        <translation>
            <numerusform>%n 字节</numerusform>
        </translation>
    </message>
    <message>
        <source>{rate} Mbit/s</source>
        <translation>{rate} Mbit/s</translation>
    </message>
    <message>
        <source>{days} d {hours} h</source>
        <translation>{days} 天 {hours} 小时</translation>
    </message>
    <message>
        <source>{hours} h {minutes} min</source>
        <translation>{hours} 小时 {minutes} 分</translation>
    </message>
    <message>
        <source>{minutes} min</source>
        <translation>{minutes} 分钟</translation>
    </message>
    <message>
        <source>{seconds} s</source>
        <translation>{seconds} 秒</translation>
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
        <translation>明天 {time}</translation>
    </message>
    <message>
        <source>{weekday} {day} {month} {year}, {time}</source>
        <translation>{year}年{month}{day}日 {weekday} {time}</translation>
    </message>
    <message>
        <source>just now</source>
        <translation>刚刚</translation>
    </message>
    <message>
        <source>{time} ago</source>
        <translation>{time}前</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>今天</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>昨天</translation>
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
        <translation>正在启动</translation>
    </message>
    <message>
        <source>The worker is being started.</source>
        <translation>工作进程正在启动。</translation>
    </message>
    <message>
        <source>Pausing…</source>
        <translation>正在暂停…</translation>
    </message>
    <message>
        <source>The device is given back at once.</source>
        <translation>立即归还设备。</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>正在启动…</translation>
    </message>
    <message>
        <source>Checking whether it's OK to start…</source>
        <translation>正在检查是否可以开始…</translation>
    </message>
    <message>
        <source>No connection</source>
        <translation>没有连接</translation>
    </message>
    <message>
        <source>Neither the network's ledger nor another computer answers. Tequio keeps trying; work that has begun goes on.</source>
        <translation>网络的账本和其他电脑都没有响应。Tequio 会继续尝试；已开始的工作会继续。</translation>
    </message>
</context>
<context>
    <name>health</name>
    <message>
        <source>Time without input</source>
        <translation>无操作时间</translation>
    </message>
    <message>
        <source>Screen lock</source>
        <translation>屏幕锁定</translation>
    </message>
    <message>
        <source>Other users</source>
        <translation>其他用户</translation>
    </message>
    <message>
        <source>Fullscreen programs</source>
        <translation>全屏程序</translation>
    </message>
    <message>
        <source>Game mode</source>
        <translation>游戏模式</translation>
    </message>
    <message>
        <source>Programs that run</source>
        <translation>正在运行的程序</translation>
    </message>
    <message>
        <source>Metered network</source>
        <translation>按流量计费的网络</translation>
    </message>
    <message>
        <source>Graphics cards</source>
        <translation>显卡</translation>
    </message>
    <message>
        <source>Processor load</source>
        <translation>处理器负载</translation>
    </message>
    <message>
        <source>Processor temperature</source>
        <translation>处理器温度</translation>
    </message>
    <message>
        <source>Main memory</source>
        <translation>主内存</translation>
    </message>
    <message>
        <source>Battery</source>
        <translation>电池</translation>
    </message>
    <message>
        <source>Power saving</source>
        <translation>省电模式</translation>
    </message>
    <message>
        <source>Without it, lending waits until the computer is locked. Lock it when you leave, or allow lending while you use it in Settings, When to lend.</source>
        <translation>缺少此项时，要等电脑锁定才会贡献。离开时请锁定电脑，或在“设置 › 何时贡献”中允许使用电脑时贡献。</translation>
    </message>
    <message>
        <source>Without it, only the time without input tells that you are away.</source>
        <translation>缺少此项时，只能靠无操作时间判断您是否离开。</translation>
    </message>
    <message>
        <source>Without it, lending waits, since another user may be at the computer. Start Tequio again.</source>
        <translation>缺少此项时会等待，因为可能有其他用户在使用电脑。请重新启动 Tequio。</translation>
    </message>
    <message>
        <source>Without it, lending waits until the computer is locked, unless you switch off pausing for games in Settings, When to lend.</source>
        <translation>缺少此项时，要等电脑锁定才会贡献，除非在“设置 › 何时贡献”中关闭“游戏时暂停”。</translation>
    </message>
    <message>
        <source>Games are still known by their launchers and by filling the screen. To have it, install GameMode.</source>
        <translation>仍可通过启动器和全屏识别游戏。要使用此项，请安装 GameMode。</translation>
    </message>
    <message>
        <source>Without it, your exclusive programs and games cannot be seen. Empty that list and switch off pausing for games in Settings, When to lend, or start Tequio again.</source>
        <translation>缺少此项时，无法识别独占程序和游戏。请在“设置 › 何时贡献”中清空该列表并关闭“游戏时暂停”，或重新启动 Tequio。</translation>
    </message>
    <message>
        <source>Without it, large transfers wait. Allow metered networks in Settings, Network, if yours costs nothing.</source>
        <translation>缺少此项时，大量传输会等待。如果您的网络不另收费，请在“设置 › 网络”中允许按流量计费的网络。</translation>
    </message>
    <message>
        <source>If such a card is in this computer, install or update its driver, then start the computer again.</source>
        <translation>如果这台电脑装有这类显卡，请安装或更新驱动，然后重启电脑。</translation>
    </message>
    <message>
        <source>Lending goes on; only the processor's temperature goal cannot be kept.</source>
        <translation>贡献会继续，只是无法控制处理器的目标温度。</translation>
    </message>
    <message>
        <source>If this computer has no battery, allow it in Settings, When to lend.</source>
        <translation>如果这台电脑没有电池，请在“设置 › 何时贡献”中允许。</translation>
    </message>
    <message>
        <source>If you never save power, allow lending while power is saved in Settings, When to lend.</source>
        <translation>如果您从不使用省电模式，请在“设置 › 何时贡献”中允许在省电模式下贡献。</translation>
    </message>
    <message>
        <source>Start Tequio again. If that does not help, copy the diagnostics and report it.</source>
        <translation>请重新启动 Tequio。如果没有用，请复制诊断信息并报告。</translation>
    </message>
</context>
<context>
    <name>judging</name>
    <message>
        <source>It takes {memory} of memory</source>
        <translation>需要 {memory} 内存</translation>
    </message>
    <message>
        <source>It takes memory, about five bytes for each parameter of a model</source>
        <translation>需要内存，模型的每个参数约五字节</translation>
    </message>
    <message>
        <source>{takes}, and some minutes of computing for each model when the texts are open, by the same rules as training. Evaluators cannot win with an entry of their own, nor judge a run that they trained in.</source>
        <translation>{takes}，并在文本打开后为每个模型计算几分钟，规则与训练相同。评测者不能凭自己的参赛模型获胜，也不能评审自己训练过的任务。</translation>
    </message>
    <message>
        <source>You help to judge: this computer makes its offer within a minute or two.</source>
        <translation>您将协助评审：这台电脑会在一两分钟内报名。</translation>
    </message>
    <message>
        <source>Volunteers, drawn by lot, decide the winner: their computers score every model on the sealed texts. Yours can be one of them.</source>
        <translation>由抽签选出的志愿者决定胜者：他们的电脑用密封的文本为每个模型评分。您的电脑也可以参与。</translation>
    </message>
    <message>
        <source>You were drawn, but judging is switched off: {done} of {models} models are scored. Switch it on, or the scores of this computer will be missing.</source>
        <translation>您被抽中了，但评审已关闭：已为 {models} 个模型中的 {done} 个评分。请打开评审，否则只能由他人完成。</translation>
    </message>
    <message>
        <source>You were drawn: {done} of {models} models are scored. It goes on when this computer may lend and the round under way is over.</source>
        <translation>您被抽中了：已为 {models} 个模型中的 {done} 个评分。在这台电脑允许贡献且本轮结束后继续。</translation>
    </message>
    <message>
        <source>Scoring: {done} of {models} models are done. The next one is made ready.</source>
        <translation>评分中：已完成 {models} 个模型中的 {done} 个。正在准备下一个。</translation>
    </message>
    <message>
        <source>Scoring: {done} of {models} models are done; {documents} of {texts} texts of {name}.</source>
        <translation>评分中：已完成 {models} 个模型中的 {done} 个；{name} 的 {texts} 篇文本已完成 {documents} 篇。</translation>
    </message>
    <message>
        <source>Offered</source>
        <translation>已报名</translation>
    </message>
    <message>
        <source>In the draw</source>
        <translation>参与抽签</translation>
    </message>
    <message>
        <source>Not in the draw</source>
        <translation>未参与抽签</translation>
    </message>
    <message>
        <source>Not drawn</source>
        <translation>未抽中</translation>
    </message>
    <message>
        <source>Drawn</source>
        <translation>已抽中</translation>
    </message>
    <message>
        <source>All scored</source>
        <translation>全部评完</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>完成</translation>
    </message>
    <message>
        <source>Not in time</source>
        <translation>未及时完成</translation>
    </message>
    <message>
        <source>Scoring</source>
        <translation>评分中</translation>
    </message>
    <message>
        <source>Not possible</source>
        <translation>不可用</translation>
    </message>
    <message>
        <source>On</source>
        <translation>已打开</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>已关闭</translation>
    </message>
    <message>
        <source>Your offer is in the log. After the deadline this computer draws a lot by itself; let Tequio run then, or others are drawn.</source>
        <translation>您的报名已写入日志。截止之后这台电脑会自动抽签；届时请让 Tequio 保持运行，否则会抽到他人。</translation>
    </message>
    <message>
        <source>Your lot is drawn. When the texts are opened, the lots decide who scores.</source>
        <translation>已经抽签。文本打开时，由抽签结果决定谁来评分。</translation>
    </message>
    <message>
        <source>No lot was drawn here in time, so others score. Nothing is lost.</source>
        <translation>这里没有及时抽签，因此由他人评分。没有任何损失。</translation>
    </message>
    <message>
        <source>Others were drawn. Thank you for the offer.</source>
        <translation>抽中了其他人。感谢报名。</translation>
    </message>
    <message>
        <source>All models are scored here, and committed to. The scores are revealed when all others have committed too, or their time is over.</source>
        <translation>所有模型均已在此评分并作出承诺。等其他人也都承诺或时间到后，评分就会公开。</translation>
    </message>
    <message>
        <source>All your scores are in the log. Thank you.</source>
        <translation>您的评分已全部写入日志。谢谢。</translation>
    </message>
    <message>
        <source>Not all models were scored and revealed in time; the others' scores count.</source>
        <translation>没有及时完成所有模型的评分和公开；以其他人的评分为准。</translation>
    </message>
    <message>
        <source>You hold a part of the key to the texts, so others judge here.</source>
        <translation>您持有文本密钥的一份，因此由他人评审。</translation>
    </message>
    <message>
        <source>Organisers do not judge.</source>
        <translation>组织者不参与评审。</translation>
    </message>
    <message>
        <source>You entered {by}, so others judge here.</source>
        <translation>您以 {by} 参赛，因此由他人评审。</translation>
    </message>
    <message>
        <source>You trained in a run that takes part, as {by}, so others judge here.</source>
        <translation>您以 {by} 在参赛的任务中训练过，因此由他人评审。</translation>
    </message>
    <message>
        <source>This computer cannot judge now: {by}.</source>
        <translation>这台电脑现在不能评审：{by}。</translation>
    </message>
    <message>
        <source>The ledger did not accept your offer: {by}.</source>
        <translation>账本没有接受您的报名：{by}。</translation>
    </message>
</context>
<context>
    <name>keys</name>
    <message>
        <source>the key file {path} cannot be used: {why}</source>
        <translation>无法使用密钥文件 {path}：{why}</translation>
    </message>
    <message>
        <source>others may read the key file {path} (mode {mode}): run chmod 600 {path}</source>
        <translation>其他人可能读取密钥文件 {path}（权限 {mode}）：请运行 chmod 600 {path}</translation>
    </message>
    <message>
        <source>the key file {path} has {size} bytes instead of {due}: restore it from a backup, or move it away to become a new peer</source>
        <translation>密钥文件 {path} 有 {size} 字节，应为 {due} 字节：请从备份恢复，或将其移走以成为新节点</translation>
    </message>
    <message>
        <source>the key file {path} is damaged: restore it from a backup</source>
        <translation>密钥文件 {path} 已损坏：请从备份恢复</translation>
    </message>
    <message>
        <source>no key found in {folder}: restore one from a backup, or make a new one</source>
        <translation>在 {folder} 中没有找到密钥：请从备份恢复，或生成新密钥</translation>
    </message>
    <message>
        <source>there is a key in {folder} already: restoring puts it aside, making does not</source>
        <translation>{folder} 中已有密钥：恢复会将其另行保留，生成则不会</translation>
    </message>
    <message>
        <source>the key file {path} is sealed: a passphrase is needed</source>
        <translation>密钥文件 {path} 已加密：需要密码短语</translation>
    </message>
    <message>
        <source>the passphrase does not open the key file</source>
        <translation>此密码短语打不开密钥文件</translation>
    </message>
    <message>
        <source>the passphrase has fewer than {least} characters: choose a longer one</source>
        <translation>密码短语少于 {least} 个字符：请选择更长的</translation>
    </message>
    <message>
        <source>this system has no keyring that could keep a secret: choose another way to store it</source>
        <translation>此系统没有能保存秘密的钥匙串：请选择其他保存方式</translation>
    </message>
    <message>
        <source>the system's keyring is locked: unlock it and try again</source>
        <translation>系统钥匙串已锁定：请解锁后重试</translation>
    </message>
    <message>
        <source>the system's keyring fails ({why}): try again, or choose a passphrase</source>
        <translation>系统钥匙串出错（{why}）：请重试，或改用密码短语</translation>
    </message>
    <message>
        <source>the system's keyring has not answered for {seconds} s: it may be asking for its password behind another window; try again then</source>
        <translation>系统钥匙串已有 {seconds} 秒没有响应：它可能正在别的窗口后面要求输入密码；请处理后重试</translation>
    </message>
    <message>
        <source>the system's keyring has no entry for the key file {path}: it was emptied, or is another user's; restore the key from a backup</source>
        <translation>系统钥匙串中没有密钥文件 {path} 的条目：可能已被清空，或属于另一位用户；请从备份恢复密钥</translation>
    </message>
    <message>
        <source>the backup {path} cannot be used: {why}</source>
        <translation>无法使用备份 {path}：{why}</translation>
    </message>
    <message>
        <source>the file {path} is not a key backup: choose the one that is</source>
        <translation>文件 {path} 不是密钥备份：请选择正确的文件</translation>
    </message>
    <message>
        <source>the passphrase does not open the backup {path}, or the file is damaged</source>
        <translation>此密码短语打不开备份 {path}，或文件已损坏</translation>
    </message>
    <message>
        <source>the backup {path} does not read back as it was written: choose another place, this one is unreliable</source>
        <translation>备份 {path} 读回的内容与写入的不同：请换个位置，此处不可靠</translation>
    </message>
    <message>
        <source>a key has {due} words and these are {count}</source>
        <translation>密钥有 {due} 个单词，而这里有 {count} 个</translation>
    </message>
    <message>
        <source>word {number}, {word}, is not in the list of words: check your copy on paper</source>
        <translation>第 {number} 个单词 {word} 不在单词表中：请核对纸上的抄写</translation>
    </message>
    <message>
        <source>word {number}, {word}, is not in the list of words: it may be {near}</source>
        <translation>第 {number} 个单词 {word} 不在单词表中：可能是 {near}</translation>
    </message>
    <message>
        <source>all words are in the list, but they do not fit together: one may be wrong, or two may be swapped</source>
        <translation>所有单词都在表中，但组合不正确：可能有一个错了，或有两个调换了位置</translation>
    </message>
    <message>
        <source>the words do not belong together: look at word {number}, {word}, which may have been {near}</source>
        <translation>这些单词不能组合在一起：请核对第 {number} 个单词 {word}，原本可能是 {near}</translation>
    </message>
    <message>
        <source>the words do not belong together: words {first} and {second} may have changed places</source>
        <translation>这些单词不能组合在一起：第 {first} 个和第 {second} 个单词可能调换了位置</translation>
    </message>
</context>
<context>
    <name>notices</name>
    <message>
        <source>Dismiss</source>
        <translation>关闭提示</translation>
    </message>
    <message>
        <source>Your settings could not be read. They are kept as {detail}, and the usual ones hold until you choose others.</source>
        <translation>无法读取您的设置。它们已保存为 {detail}；在重新选择之前使用默认设置。</translation>
    </message>
    <message>
        <source>Your settings were written by a newer Tequio. What this one knows of them is used; they are kept as {detail}.</source>
        <translation>您的设置由更新版本的 Tequio 写入。此版本能识别的部分会生效；原设置已保存为 {detail}。</translation>
    </message>
    <message>
        <source>Your settings could not be saved ({detail}). They hold until you quit; make room or make the file writable, and they will be saved.</source>
        <translation>无法保存您的设置（{detail}）。它们在退出前有效；请腾出空间或让文件可写，之后就会保存。</translation>
    </message>
    <message>
        <source>A worker that was started elsewhere runs already. This window controls it, and it goes on when you quit.</source>
        <translation>已有在别处启动的工作进程在运行。此窗口可以控制它；您退出后它会继续运行。</translation>
    </message>
    <message>
        <source>The worker here was started elsewhere, so this window cannot change its network. End it, then join again.</source>
        <translation>这里的工作进程是在别处启动的，因此此窗口不能更改它的网络。请先结束它，再重新加入。</translation>
    </message>
    <message>
        <source>You joined {detail}.</source>
        <translation>您已加入 {detail}。</translation>
    </message>
    <message>
        <source>This competition link is incomplete ({detail}). Copy it again.</source>
        <translation>此竞赛链接不完整（{detail}）。请重新复制。</translation>
    </message>
    <message>
        <source>That competition is in another network, whose ledger is {detail}. Choose Join a network, then open the link again.</source>
        <translation>该竞赛属于另一个网络，其账本是 {detail}。请选择“加入网络”，然后再次打开链接。</translation>
    </message>
    <message>
        <source>Your desktop shows no tray icons, so closing this window minimises it. Ctrl+Q quits and stops lending.</source>
        <translation>您的桌面不显示托盘图标，因此关闭此窗口会将其最小化。按 Ctrl+Q 退出并停止贡献。</translation>
    </message>
</context>
<context>
    <name>pages</name>
    <message>
        <source>Home</source>
        <translation>主页</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>训练任务</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Competitions</source>
        <translation>竞赛</translation>
    </message>
    <message>
        <source>Points</source>
        <translation>积分</translation>
    </message>
    <message>
        <source>Hardware</source>
        <translation>硬件</translation>
    </message>
    <message>
        <source>Activity</source>
        <translation>活动</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
</context>
<context>
    <name>remedies</name>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>At the present rate, this month's {cap} of traffic will be used up on {day}. Then nothing is lent until the next month, unless you raise the limit.</source>
        <translation>按目前的速度，本月的 {cap} 流量将在 {day} 用完。除非提高上限，之后直到下个月都不会贡献。</translation>
    </message>
    <message>
        <source>Statements that wait here for it: {waiting}.</source>
        <translation>在此等待发送的声明：{waiting}。</translation>
    </message>
    <message>
        <source>Your key has no backup: if this disk fails, your points cannot be claimed.</source>
        <translation>您的密钥没有备份：如果这块磁盘损坏，积分将无法取回。</translation>
    </message>
    <message>
        <source>Open Settings</source>
        <translation>打开设置</translation>
    </message>
    <message>
        <source>Open Hardware</source>
        <translation>打开硬件</translation>
    </message>
    <message>
        <source>Open Activity</source>
        <translation>打开活动</translation>
    </message>
    <message>
        <source>Open Runs</source>
        <translation>打开训练任务</translation>
    </message>
    <message>
        <source>Join a network…</source>
        <translation>加入网络…</translation>
    </message>
    <message>
        <source>Back it up</source>
        <translation>立即备份</translation>
    </message>
    <message>
        <source>The network has not answered since {since}.</source>
        <translation>网络自 {since} 起没有响应。</translation>
    </message>
    <message>
        <source>The network has not answered since {since}. Work goes on, and points follow later.</source>
        <translation>网络自 {since} 起没有响应。工作会继续，积分随后到账。</translation>
    </message>
    <message>
        <source>Update now</source>
        <translation>立即更新</translation>
    </message>
    <message>
        <source>Update it the way it was installed, for example with git, pip or the system's packages.</source>
        <translation>请按当初的安装方式更新，例如用 git、pip 或系统的软件包。</translation>
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
        <translation>立即停止贡献</translation>
    </message>
    <message>
        <source>on</source>
        <translation>开</translation>
    </message>
    <message>
        <source>off</source>
        <translation>关</translation>
    </message>
    <message>
        <source>{note} Default: {default}.</source>
        <translation>{note}默认：{default}。</translation>
    </message>
    <message>
        <source>When to lend</source>
        <translation>何时贡献</translation>
    </message>
    <message>
        <source>Tequio runs only when every rule allows it. Changes apply immediately.</source>
        <translation>只有所有规则都允许时 Tequio 才会运行。更改立即生效。</translation>
    </message>
    <message>
        <source>While you're using the computer</source>
        <translation>使用电脑时</translation>
    </message>
    <message>
        <source>Games and films</source>
        <translation>游戏和视频</translation>
    </message>
    <message>
        <source>Power</source>
        <translation>电源</translation>
    </message>
    <message>
        <source>Other programs</source>
        <translation>其他程序</translation>
    </message>
    <message>
        <source>Competitions</source>
        <translation>竞赛</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>预设</translation>
    </message>
    <message>
        <source>Default: Balanced. A preset changes only the settings named on its card.</source>
        <translation>默认：均衡。预设只更改其卡片上列出的设置。</translation>
    </message>
    <message>
        <source>Idle time before starting</source>
        <translation>开始前的空闲时间</translation>
    </message>
    <message>
        <source>Starts after this long without input, or as soon as the screen is locked.</source>
        <translation>这么久没有操作后开始，或屏幕一锁定就开始。</translation>
    </message>
    <message>
        <source>min</source>
        <translation>分钟</translation>
    </message>
    <message>
        <source>Immediately</source>
        <translation>立即</translation>
    </message>
    <message>
        <source>Lend while I use the computer</source>
        <translation>使用电脑时也贡献</translation>
    </message>
    <message>
        <source>Tequio then works for part of the time. The rules for games and films still apply.</source>
        <translation>此时 Tequio 只用部分时间工作。游戏和视频的规则仍然适用。</translation>
    </message>
    <message>
        <source>Share of the time</source>
        <translation>时间占比</translation>
    </message>
    <message>
        <source>How much of the time Tequio works while you use the computer.</source>
        <translation>使用电脑时，Tequio 有多少时间在工作。</translation>
    </message>
    <message>
        <source>Keep the computer awake</source>
        <translation>保持电脑唤醒</translation>
    </message>
    <message>
        <source>Keeps the computer from going to sleep while something is lent.</source>
        <translation>贡献期间不让电脑进入睡眠。</translation>
    </message>
    <message>
        <source>Hours of the week</source>
        <translation>每周时段</translation>
    </message>
    <message>
        <source>Drag to select hours, or use Shift+arrow keys; Space toggles an hour.</source>
        <translation>拖动选择时段，或使用 Shift+方向键；空格键切换一个小时。</translation>
    </message>
    <message>
        <source>all hours</source>
        <translation>所有时段</translation>
    </message>
    <message>
        <source>Pause for games</source>
        <translation>游戏时暂停</translation>
    </message>
    <message>
        <source>Nothing is lent while a game runs or fills the screen, and for 60 s afterwards.</source>
        <translation>游戏运行或全屏时不贡献，之后 60 秒内也不贡献。</translation>
    </message>
    <message>
        <source>Pause for films</source>
        <translation>看视频时暂停</translation>
    </message>
    <message>
        <source>Nothing is lent while a browser or a video player fills the screen.</source>
        <translation>浏览器或视频播放器全屏时不贡献。</translation>
    </message>
    <message>
        <source>Exclusive programs</source>
        <translation>独占程序</translation>
    </message>
    <message>
        <source>Nothing is lent while one of these runs: video editing, calls, recording.</source>
        <translation>这些程序运行时不贡献：视频剪辑、通话、录制等。</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>Lend on battery</source>
        <translation>使用电池时贡献</translation>
    </message>
    <message>
        <source>Continues when the computer is unplugged.</source>
        <translation>拔掉电源后继续。</translation>
    </message>
    <message>
        <source>Lend in power saving mode</source>
        <translation>省电模式下贡献</translation>
    </message>
    <message>
        <source>Continues when power saving is switched on, by you or by the system.</source>
        <translation>您或系统打开省电模式后继续。</translation>
    </message>
    <message>
        <source>Other programs on the GPU</source>
        <translation>其他程序占用 GPU</translation>
    </message>
    <message>
        <source>Pauses while other programs keep the GPU busier than this for 3 s.</source>
        <translation>其他程序占用 GPU 超过此值达 3 秒时暂停。</translation>
    </message>
    <message>
        <source>%</source>
        <translation>%</translation>
    </message>
    <message>
        <source>Other programs on the CPU</source>
        <translation>其他程序占用 CPU</translation>
    </message>
    <message>
        <source>Pauses while other programs keep all CPU cores together busier than this.</source>
        <translation>其他程序合计占用全部 CPU 核心超过此值时暂停。</translation>
    </message>
    <message>
        <source>Help judge competitions</source>
        <translation>协助评审竞赛</translation>
    </message>
    <message>
        <source>Needs about five bytes of memory for each parameter of a model, and some minutes of computing for each model once the texts are open. It follows the same rules as training. A judge cannot win with their own entry, nor judge a run they trained in.</source>
        <translation>模型的每个参数约需五字节内存，文本打开后每个模型需计算几分钟。规则与训练相同。评审者不能凭自己的参赛模型获胜，也不能评审自己训练过的任务。</translation>
    </message>
    <message>
        <source>Network</source>
        <translation>网络</translation>
    </message>
    <message>
        <source>The network that you work for, and how much bandwidth that may take.</source>
        <translation>您为之工作的网络，以及可以占用的带宽。</translation>
    </message>
    <message>
        <source>Your network</source>
        <translation>您的网络</translation>
    </message>
    <message>
        <source>Bandwidth</source>
        <translation>带宽</translation>
    </message>
    <message>
        <source>Per month</source>
        <translation>每月</translation>
    </message>
    <message>
        <source>Connections from others</source>
        <translation>来自他人的连接</translation>
    </message>
    <message>
        <source>Metered networks</source>
        <translation>按流量计费的网络</translation>
    </message>
    <message>
        <source>Ledger</source>
        <translation>账本</translation>
    </message>
    <message>
        <source>The server that keeps the public log of the network's work and points.</source>
        <translation>保存网络的工作和积分公开日志的服务器。</translation>
    </message>
    <message>
        <source>Upload</source>
        <translation>上传</translation>
    </message>
    <message>
        <source>Upload limit. Stay below half your connection speed to keep games and calls smooth.</source>
        <translation>上传上限。低于线路速度的一半，游戏和通话才会流畅。</translation>
    </message>
    <message>
        <source>Mbit/s</source>
        <translation>Mbit/s</translation>
    </message>
    <message>
        <source>No limit</source>
        <translation>无上限</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>下载</translation>
    </message>
    <message>
        <source>Download limit. It does not slow the models that you score for competitions.</source>
        <translation>下载上限。不适用于您为竞赛评分的模型。</translation>
    </message>
    <message>
        <source>Monthly quota</source>
        <translation>每月配额</translation>
    </message>
    <message>
        <source>Upload and download together. Once it is used up, lending resumes on the first of the next month.</source>
        <translation>上传和下载合计。用完后，下月一日恢复贡献。</translation>
    </message>
    <message>
        <source>GB</source>
        <translation>GB</translation>
    </message>
    <message>
        <source>Used this month</source>
        <translation>本月已用</translation>
    </message>
    <message>
        <source>Others can connect to this computer</source>
        <translation>他人可以连接到这台电脑</translation>
    </message>
    <message>
        <source>Found out by asking other computers of the network to try.</source>
        <translation>通过请网络中的其他电脑尝试连接来确定。</translation>
    </message>
    <message>
        <source>Open a port on the router</source>
        <translation>在路由器上打开端口</translation>
    </message>
    <message>
        <source>Asks your router by UPnP or NAT-PMP to let other computers of the network connect to this one. The port is closed when Tequio ends.</source>
        <translation>通过 UPnP 或 NAT-PMP 请求路由器允许网络中的其他电脑连接到这台电脑。Tequio 结束时关闭端口。</translation>
    </message>
    <message>
        <source>Find members in the local network</source>
        <translation>在局域网中查找成员</translation>
    </message>
    <message>
        <source>Computers behind the same router exchange directly instead of through the internet. Everyone in the local network can see that this computer runs Tequio.</source>
        <translation>同一路由器后的电脑将直接交换数据，而不经过互联网。局域网中的任何人都能看到这台电脑正在运行 Tequio。</translation>
    </message>
    <message>
        <source>Lend on metered networks</source>
        <translation>在按流量计费的网络上贡献</translation>
    </message>
    <message>
        <source>On a phone's hotspot, or where the system marks the network as metered.</source>
        <translation>使用手机热点，或系统将网络标为按流量计费时。</translation>
    </message>
    <message>
        <source>Storage</source>
        <translation>存储</translation>
    </message>
    <message>
        <source>How much disk space Tequio may use.</source>
        <translation>Tequio 可以使用多少磁盘空间。</translation>
    </message>
    <message>
        <source>Tequio's files</source>
        <translation>Tequio 的文件</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>磁盘</translation>
    </message>
    <message>
        <source>Storage limit</source>
        <translation>存储上限</translation>
    </message>
    <message>
        <source>For the model, data and updates of your runs. The oldest are deleted first.</source>
        <translation>用于训练任务的模型、数据和更新。最旧的先删除。</translation>
    </message>
    <message>
        <source>Used by Tequio</source>
        <translation>Tequio 已用</translation>
    </message>
    <message>
        <source>Always keep free</source>
        <translation>始终保留</translation>
    </message>
    <message>
        <source>Lending waits when less disk space than this is free.</source>
        <translation>可用磁盘空间低于此值时，贡献会等待。</translation>
    </message>
    <message>
        <source>Free now</source>
        <translation>当前可用</translation>
    </message>
    <message>
        <source>On the disk that holds Tequio's files.</source>
        <translation>Tequio 文件所在的磁盘。</translation>
    </message>
    <message>
        <source>Notifications</source>
        <translation>通知</translation>
    </message>
    <message>
        <source>What Tequio notifies you of.</source>
        <translation>Tequio 通知您的内容。</translation>
    </message>
    <message>
        <source>First points</source>
        <translation>首批积分</translation>
    </message>
    <message>
        <source>Once, when your first points are verified.</source>
        <translation>首批积分通过验证时，仅一次。</translation>
    </message>
    <message>
        <source>Weekly rank</source>
        <translation>每周名次</translation>
    </message>
    <message>
        <source>Once a week, how your rank has changed.</source>
        <translation>每周一次，告知名次的变化。</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>需要处理</translation>
    </message>
    <message>
        <source>When lending cannot continue until you do something.</source>
        <translation>需要您处理后才能继续贡献时。</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>训练任务</translation>
    </message>
    <message>
        <source>When a run you are in ends, or goes back to an earlier model.</source>
        <translation>您参与的训练任务结束，或回到较早的模型时。</translation>
    </message>
    <message>
        <source>When one begins, when its deadline is near and when it is decided; when you are drawn to judge, and when all your scores are in.</source>
        <translation>竞赛开始、临近截止和结果揭晓时；您被抽中评审时，以及您的评分全部提交时。</translation>
    </message>
    <message>
        <source>Announcements</source>
        <translation>公告</translation>
    </message>
    <message>
        <source>When the organisers of the network announce something to everybody.</source>
        <translation>网络的组织者向所有人发布公告时。</translation>
    </message>
    <message>
        <source>Notifications wait while a program fills the screen.</source>
        <translation>有程序全屏时，通知会等待。</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>外观</translation>
    </message>
    <message>
        <source>Colours, language and motion.</source>
        <translation>颜色、语言和动画。</translation>
    </message>
    <message>
        <source>Colours</source>
        <translation>颜色</translation>
    </message>
    <message>
        <source>A light or a dark theme.</source>
        <translation>浅色或深色主题。</translation>
    </message>
    <message>
        <source>Same as system</source>
        <translation>跟随系统</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>浅色</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>深色</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>语言</translation>
    </message>
    <message>
        <source>For texts, dates and numbers. Texts without a translation are in English.</source>
        <translation>用于文字、日期和数字。没有译文的文字显示为英语。</translation>
    </message>
    <message>
        <source>Reduced motion</source>
        <translation>减少动画</translation>
    </message>
    <message>
        <source>No sliding or fading. The system's own setting has the same effect.</source>
        <translation>没有滑动和淡入淡出。系统自身的设置效果相同。</translation>
    </message>
    <message>
        <source>Account and keys</source>
        <translation>账号和密钥</translation>
    </message>
    <message>
        <source>Your identity on the network.</source>
        <translation>您在网络中的身份。</translation>
    </message>
    <message>
        <source>Name and team</source>
        <translation>名称和团队</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>密钥</translation>
    </message>
    <message>
        <source>If this computer is lost or the key is stolen</source>
        <translation>如果这台电脑丢失或密钥被盗</translation>
    </message>
    <message>
        <source>Public name</source>
        <translation>公开名称</translation>
    </message>
    <message>
        <source>Shown instead of your key in rankings and on pages. Unique in this network.</source>
        <translation>在排行榜和页面上代替密钥显示。在此网络中唯一。</translation>
    </message>
    <message>
        <source>nickname rename</source>
        <translation>昵称 用户名 改名</translation>
    </message>
    <message>
        <source>Team</source>
        <translation>团队</translation>
    </message>
    <message>
        <source>Join one with a link from its owner, or found your own. What you earn also counts for your team.</source>
        <translation>通过负责人的链接加入一个，或创建自己的团队。您获得的积分也计入团队。</translation>
    </message>
    <message>
        <source>group friends</source>
        <translation>小组 群组 朋友</translation>
    </message>
    <message>
        <source>Peer id</source>
        <translation>节点 ID</translation>
    </message>
    <message>
        <source>How other computers find yours; visible to everyone.</source>
        <translation>其他电脑找到您的电脑的方式；所有人可见。</translation>
    </message>
    <message>
        <source>Key fingerprint</source>
        <translation>密钥指纹</translation>
    </message>
    <message>
        <source>The public half of your key, shown with your points and in the ranking. The secret half never leaves this computer; nobody who helps you will ask for it.</source>
        <translation>密钥的公开部分，与您的积分一同显示，也显示在排行榜中。私密部分永远不会离开这台电脑；帮助您的人都不会索要它。</translation>
    </message>
    <message>
        <source>Linked account</source>
        <translation>关联账号</translation>
    </message>
    <message>
        <source>Shows the network that a person is behind your key. Some runs ask for it.</source>
        <translation>向网络表明您的密钥背后是真人。有些训练任务要求这样做。</translation>
    </message>
    <message>
        <source>connect vouch github tier</source>
        <translation>连接 担保 github 等级</translation>
    </message>
    <message>
        <source>Standing</source>
        <translation>信誉</translation>
    </message>
    <message>
        <source>Your key is in good standing.</source>
        <translation>您的密钥信誉良好。</translation>
    </message>
    <message>
        <source>Appeal</source>
        <translation>申诉</translation>
    </message>
    <message>
        <source>If your key was restricted by mistake, ask the organisers to review it.</source>
        <translation>如果您的密钥被误限，请让组织者复核。</translation>
    </message>
    <message>
        <source>quarantine ban suspected review</source>
        <translation>隔离 封禁 可疑 复核</translation>
    </message>
    <message>
        <source>Backup and restore</source>
        <translation>备份和恢复</translation>
    </message>
    <message>
        <source>Setup</source>
        <translation>初始设置</translation>
    </message>
    <message>
        <source>Run the setup again. Nothing changes until you finish it.</source>
        <translation>重新运行初始设置。完成之前不会有任何变化。</translation>
    </message>
    <message>
        <source>Recovery key</source>
        <translation>恢复密钥</translation>
    </message>
    <message>
        <source>Stops this computer's key and moves your points to a new one, even if a thief has the computer. Keep it somewhere else.</source>
        <translation>停用这台电脑的密钥，并把积分转移到新密钥，即使电脑在小偷手里。请保存在别处。</translation>
    </message>
    <message>
        <source>stolen lost theft words paper</source>
        <translation>被盗 丢失 单词 纸</translation>
    </message>
    <message>
        <source>Replace this computer's key</source>
        <translation>更换这台电脑的密钥</translation>
    </message>
    <message>
        <source>A new key gets your points, standing, name and team. The present one can never be used again.</source>
        <translation>新密钥会得到您的积分、信誉、名称和团队。当前密钥将永远无法再使用。</translation>
    </message>
    <message>
        <source>new key rotate stolen</source>
        <translation>新密钥 轮换 被盗</translation>
    </message>
    <message>
        <source>A lost or stolen computer</source>
        <translation>电脑丢失或被盗</translation>
    </message>
    <message>
        <source>Stop the key of another computer of yours, or move its points to this one.</source>
        <translation>停用您另一台电脑的密钥，或把其积分转移到这台电脑。</translation>
    </message>
    <message>
        <source>revoke stolen thief</source>
        <translation>吊销 被盗 小偷</translation>
    </message>
    <message>
        <source>Startup</source>
        <translation>启动</translation>
    </message>
    <message>
        <source>Whether Tequio starts when you log in.</source>
        <translation>登录时是否启动 Tequio。</translation>
    </message>
    <message>
        <source>Start at login</source>
        <translation>登录时启动</translation>
    </message>
    <message>
        <source>Starts minimised to the tray; the window stays closed.</source>
        <translation>启动后最小化到托盘；窗口保持关闭。</translation>
    </message>
    <message>
        <source>your choice during setup</source>
        <translation>初始设置时的选择</translation>
    </message>
    <message>
        <source>autostart background hidden</source>
        <translation>自动启动 后台 隐藏</translation>
    </message>
    <message>
        <source>Privacy</source>
        <translation>隐私</translation>
    </message>
    <message>
        <source>Everything that leaves this computer, and where it goes.</source>
        <translation>离开这台电脑的一切，以及它们的去向。</translation>
    </message>
    <message>
        <source>To the public ledger (permanent, readable by anyone)</source>
        <translation>发送到公开账本（永久，任何人可读）</translation>
    </message>
    <message>
        <source>To the ledger's operator</source>
        <translation>发送给账本的运营者</translation>
    </message>
    <message>
        <source>To other volunteers in your runs</source>
        <translation>发送给同一训练任务的其他志愿者</translation>
    </message>
    <message>
        <source>To your router</source>
        <translation>发送给您的路由器</translation>
    </message>
    <message>
        <source>To your local network</source>
        <translation>发送到您的局域网</translation>
    </message>
    <message>
        <source>To servers that offer Tequio or a run's data</source>
        <translation>发送给提供 Tequio 或训练任务数据的服务器</translation>
    </message>
    <message>
        <source>Never sent</source>
        <translation>从不发送</translation>
    </message>
    <message>
        <source>Telemetry</source>
        <translation>遥测</translation>
    </message>
    <message>
        <source>No usage data and no crash reports are ever sent. After an error you can copy a report and send it yourself.</source>
        <translation>从不发送使用数据和崩溃报告。出错后，您可以复制报告并自行发送。</translation>
    </message>
    <message>
        <source>None</source>
        <translation>无</translation>
    </message>
    <message>
        <source>Your public key, and the work that a new key costs</source>
        <translation>您的公钥，以及新密钥所需的工作量证明</translation>
    </message>
    <message>
        <source>Once, so that points have an owner.</source>
        <translation>一次，使积分有所归属。</translation>
    </message>
    <message>
        <source>That you are ready, in which roles, with which model</source>
        <translation>您已就绪，以及角色和模型</translation>
    </message>
    <message>
        <source>Run, roles, the hash of the model you hold, a commitment for the draw.</source>
        <translation>训练任务、角色、所持模型的哈希，以及用于抽签的承诺。</translation>
    </message>
    <message>
        <source>That you leave, with a reason code</source>
        <translation>您已离开，附原因代码</translation>
    </message>
    <message>
        <source>When lending stops. The code never says why you stopped.</source>
        <translation>贡献停止时。代码从不说明您为何停止。</translation>
    </message>
    <message>
        <source>The header of each update that you trained</source>
        <translation>您训练的每个更新的头部信息</translation>
    </message>
    <message>
        <source>Run, round, windows of data, tokens, steps, two losses, hashes of model and update.</source>
        <translation>训练任务、轮次、数据窗口、token 数、步数、两个损失值、模型和更新的哈希。</translation>
    </message>
    <message>
        <source>Which model you hold or computed for a round</source>
        <translation>您在一轮中持有或算出的模型</translation>
    </message>
    <message>
        <source>Hashes of its parts, and your lot for the draw of witnesses.</source>
        <translation>各部分的哈希，以及您在见证者抽签中的签。</translation>
    </message>
    <message>
        <source>What you found as a witness</source>
        <translation>您作为见证者的发现</translation>
    </message>
    <message>
        <source>Which updates arrived, which were refused and by which rule, hashes, the hash of the next model.</source>
        <translation>收到了哪些更新，哪些因哪条规则被拒，各哈希，以及下一个模型的哈希。</translation>
    </message>
    <message>
        <source>What you found when you repeated another volunteer's work</source>
        <translation>您复算另一位志愿者的工作时的发现</translation>
    </message>
    <message>
        <source>How far its result is from yours, in a few numbers, and a sketch of yours.</source>
        <translation>其结果与您的相差多少（几个数字），以及您的结果的概要。</translation>
    </message>
    <message>
        <source>How good a model is, where you were drawn to measure it</source>
        <translation>模型的优劣（当您被抽中评测时）</translation>
    </message>
    <message>
        <source>Its hash, how many bits it needs for text that the run keeps aside, and how it continues a given beginning of a text.</source>
        <translation>其哈希，它对任务预留的文本需要多少比特，以及它如何续写给定的开头。</translation>
    </message>
    <message>
        <source>Your offer to judge competitions, and your scores</source>
        <translation>您的竞赛评审报名和评分</translation>
    </message>
    <message>
        <source>If you switched it on: a lot for the draw, commitments, the bits of each text, the program's version, the device's name and its threads.</source>
        <translation>如果您打开了评审：抽签的签、承诺、每篇文本的比特数、程序版本、设备名称和线程数。</translation>
    </message>
    <message>
        <source>Proofs that a key contradicted itself</source>
        <translation>某把密钥自相矛盾的证据</translation>
    </message>
    <message>
        <source>Two statements signed by that key; and your appeal, if you make one.</source>
        <translation>由该密钥签名的两份声明；以及您的申诉（如有）。</translation>
    </message>
    <message>
        <source>That a key has a recovery key, was replaced or was revoked</source>
        <translation>密钥有恢复密钥、已更换或已吊销</translation>
    </message>
    <message>
        <source>If you do that: the public halves of the keys, which shows that they have one owner.</source>
        <translation>如果您这样做：各密钥的公开部分，由此可见它们属于同一所有者。</translation>
    </message>
    <message>
        <source>What you publish yourself</source>
        <translation>您自己发布的内容</translation>
    </message>
    <message>
        <source>Your public name; the team that you earn for; entries and challenges in competitions.</source>
        <translation>公开名称；您为之获得积分的团队；竞赛中的参赛和质疑。</translation>
    </message>
    <message>
        <source>With each statement</source>
        <translation>随每份声明</translation>
    </message>
    <message>
        <source>Its number, the time on your clock, the statement before it, your signature.</source>
        <translation>其编号、您时钟上的时间、它之前的声明、您的签名。</translation>
    </message>
    <message>
        <source>Your internet address and your requests</source>
        <translation>您的互联网地址和请求</translation>
    </message>
    <message>
        <source>As with every web server: log entries, runs, your own points and ranking.</source>
        <translation>与任何网站服务器一样：日志条目、训练任务、您自己的积分和名次。</translation>
    </message>
    <message>
        <source>The text of an appeal, if you write one</source>
        <translation>申诉的文字（如果您写了）</translation>
    </message>
    <message>
        <source>With your key, the time and your signature.</source>
        <translation>附您的密钥、时间和签名。</translation>
    </message>
    <message>
        <source>Your peer id, addresses and ports</source>
        <translation>您的节点 ID、地址和端口</translation>
    </message>
    <message>
        <source>Including those of this computer in its local network, and the version of the network library.</source>
        <translation>包括这台电脑在本地网络中的地址，以及网络库的版本。</translation>
    </message>
    <message>
        <source>Updates, models, training data and Tequio itself</source>
        <translation>训练更新、模型、训练数据和 Tequio 本身</translation>
    </message>
    <message>
        <source>What you trained, and what others ask for: pieces of the public model and data, and of the versions of Tequio that you have fetched.</source>
        <translation>您训练的内容，以及他人请求的内容：公开的模型和数据的片段，以及您下载过的 Tequio 版本的片段。</translation>
    </message>
    <message>
        <source>Your statements of the current round</source>
        <translation>您在当前轮次的声明</translation>
    </message>
    <message>
        <source>The same statements that the ledger gets.</source>
        <translation>与账本收到的声明相同。</translation>
    </message>
    <message>
        <source>A port, and the name Tequio</source>
        <translation>一个端口，以及 Tequio 这个名称</translation>
    </message>
    <message>
        <source>Only if you let Tequio open a port on the router, in Network.</source>
        <translation>仅当您在“网络”中允许 Tequio 在路由器上打开端口时。</translation>
    </message>
    <message>
        <source>That this computer runs Tequio, and its port</source>
        <translation>这台电脑正在运行 Tequio 及其端口</translation>
    </message>
    <message>
        <source>Only if you let Tequio find members there, in Network. Your key is not named.</source>
        <translation>仅当您在“网络”中允许 Tequio 在其中查找成员时。不会透露您的密钥。</translation>
    </message>
    <message>
        <source>Your internet address and what you fetch</source>
        <translation>您的互联网地址和下载内容</translation>
    </message>
    <message>
        <source>When Tequio looks for a newer version, or fetches it or what training needs.</source>
        <translation>当 Tequio 查找或下载新版本，或下载训练组件时。</translation>
    </message>
    <message>
        <source>Your internet address and the parts you fetch</source>
        <translation>您的互联网地址和下载的部分</translation>
    </message>
    <message>
        <source>When the organiser of a run keeps its data on a web server.</source>
        <translation>当训练任务的组织者将数据存放在网络服务器上时。</translation>
    </message>
    <message>
        <source>Your files, programs, games and windows</source>
        <translation>您的文件、程序、游戏和窗口</translation>
    </message>
    <message>
        <source>Tequio checks them on this computer only, to decide whether to lend.</source>
        <translation>Tequio 只在本机检查它们，以决定是否贡献。</translation>
    </message>
    <message>
        <source>User name, computer name and device readings</source>
        <translation>用户名、电脑名称和设备读数</translation>
    </message>
    <message>
        <source>Others see how fast you train. Judges also publish the name of the device that scored.</source>
        <translation>他人能看到您训练得多快。评审者还会公布评分所用设备的名称。</translation>
    </message>
    <message>
        <source>Your settings and hours</source>
        <translation>您的设置和时段</translation>
    </message>
    <message>
        <source>They stay in the app's folder.</source>
        <translation>它们留在应用的文件夹中。</translation>
    </message>
    <message>
        <source>Advanced</source>
        <translation>高级</translation>
    </message>
    <message>
        <source>Most people never need these.</source>
        <translation>大多数人用不到这些。</translation>
    </message>
    <message>
        <source>Worker</source>
        <translation>工作进程</translation>
    </message>
    <message>
        <source>Updates</source>
        <translation>更新</translation>
    </message>
    <message>
        <source>Reset</source>
        <translation>重置</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>文件夹</translation>
    </message>
    <message>
        <source>Key, store and state. To move it: quit, move the folder, and start with --dir.</source>
        <translation>密钥、存储和状态。要移动它：退出，移动文件夹，再用 --dir 启动。</translation>
    </message>
    <message>
        <source>Listen address</source>
        <translation>监听地址</translation>
    </message>
    <message>
        <source>Where peers reach this computer, for example /ip4/0.0.0.0/tcp/4001.</source>
        <translation>其他节点连接这台电脑的地址，例如 /ip4/0.0.0.0/tcp/4001。</translation>
    </message>
    <message>
        <source>any free port</source>
        <translation>任意空闲端口</translation>
    </message>
    <message>
        <source>Log level</source>
        <translation>日志级别</translation>
    </message>
    <message>
        <source>How much is written to worker.log in the folder. A change restarts the worker.</source>
        <translation>向文件夹中的 worker.log 写入多少内容。更改会重启工作进程。</translation>
    </message>
    <message>
        <source>Everything</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>Events</source>
        <translation>事件</translation>
    </message>
    <message>
        <source>Warnings</source>
        <translation>警告</translation>
    </message>
    <message>
        <source>Errors</source>
        <translation>错误</translation>
    </message>
    <message>
        <source>Update automatically</source>
        <translation>自动更新</translation>
    </message>
    <message>
        <source>Once a day Tequio looks for a newer version, fetches it, and tests it. It starts while you are away and no round is running; if a passphrase protects your key, the next time Tequio starts.</source>
        <translation>Tequio 每天查找一次新版本，下载并测试。在您离开且没有轮次进行时启用；如果密钥受密码短语保护，则在下次启动 Tequio 时启用。</translation>
    </message>
    <message>
        <source>Reset all settings</source>
        <translation>重置所有设置</translation>
    </message>
    <message>
        <source>Restores every default. Key, points, consent and chosen runs stay, except the processor's.</source>
        <translation>恢复所有默认值。密钥、积分、同意和所选训练任务保留，但处理器的除外。</translation>
    </message>
</context>
<context>
    <name>vesting</name>
    <message>
        <source>{points} of your points are still vesting: they can be lost if work turns out not to have been done.</source>
        <translation>您有 {points} 积分仍在归属中：如果发现相应的工作并未完成，可能会失去它们。</translation>
    </message>
    <message>
        <source>{points} more were forfeited, and are no longer counted.</source>
        <translation>另有 {points} 已作废，不再计入。</translation>
    </message>
</context>
<context>
    <name>words</name>
    <message>
        <source>Lending</source>
        <translation>贡献中</translation>
    </message>
    <message>
        <source>Finishing</source>
        <translation>收尾中</translation>
    </message>
    <message>
        <source>Waiting</source>
        <translation>等待中</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>已暂停</translation>
    </message>
    <message>
        <source>Snoozed</source>
        <translation>暂停片刻</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>需要处理</translation>
    </message>
    <message>
        <source>nobody needs the computer. Gives way when you come back.</source>
        <translation>电脑空闲。您回来时会让出电脑。</translation>
    </message>
    <message>
        <source>this device is lent also while you use the computer or play.</source>
        <translation>使用电脑或玩游戏时也贡献此设备。</translation>
    </message>
    <message>
        <source>whether or not somebody uses the computer, which this worker cannot see. Pause stops it (tequio pause).</source>
        <translation>无论是否有人在使用电脑都会贡献，因为此工作进程无法得知。点击“暂停”即可停止（tequio pause）。</translation>
    </message>
    <message>
        <source>gently, at {share}% of the time, while you use the computer.</source>
        <translation>您使用电脑时以低强度运行，占 {share}% 的时间。</translation>
    </message>
    <message>
        <source>you started it although a rule says to wait. The rules decide again once they have allowed it for 5 min.</source>
        <translation>虽有规则要求等待，您仍启动了它。规则连续允许 5 分钟后，重新由规则决定。</translation>
    </message>
    <message>
        <source>scoring models for a competition, as you offered. See Competitions.</source>
        <translation>正在按您的报名为竞赛的模型评分。详见“竞赛”。</translation>
    </message>
    <message>
        <source>nothing is lent before you agree to it. Choose when to lend, then Contribute.</source>
        <translation>在您同意之前不会贡献算力。请选择何时贡献，然后点击“开始贡献”。</translation>
    </message>
    <message>
        <source>you paused it. Resumes when you choose Contribute.</source>
        <translation>您暂停了它。点击“开始贡献”后恢复。</translation>
    </message>
    <message>
        <source>the last round is finished, as you asked. Resumes when you choose Contribute.</source>
        <translation>已按您的要求完成最后一轮。点击“开始贡献”后恢复。</translation>
    </message>
    <message>
        <source>you asked for a break. Resumes automatically.</source>
        <translation>您要求休息一会儿。之后自动恢复。</translation>
    </message>
    <message>
        <source>you asked for a break. Resumes {until}.</source>
        <translation>您要求休息一会儿。恢复时间：{until}。</translation>
    </message>
    <message>
        <source>this device is switched off. Switch it on in Hardware to lend it.</source>
        <translation>此设备已关闭。要贡献它，请在“硬件”中打开。</translation>
    </message>
    <message>
        <source>until {program} closes. Resumes 60 s after that.</source>
        <translation>直到 {program} 关闭。关闭 60 秒后恢复。</translation>
    </message>
    <message>
        <source>until your game closes. Resumes 60 s after that.</source>
        <translation>直到游戏关闭。关闭 60 秒后恢复。</translation>
    </message>
    <message>
        <source>your game has closed. Resumes {until}.</source>
        <translation>游戏已关闭。恢复时间：{until}。</translation>
    </message>
    <message>
        <source>round {round} is the last one. Then lending stops, as you asked.</source>
        <translation>第 {round} 轮是最后一轮。之后会按您的要求停止贡献。</translation>
    </message>
    <message>
        <source>what training needs is not installed yet. Resumes when it has been downloaded.</source>
        <translation>训练组件尚未安装。下载完成后恢复。</translation>
    </message>
    <message>
        <source>the training program keeps failing. Contribute tries again; Activity has the log.</source>
        <translation>训练程序屡次失败。点击“开始贡献”重试；日志在“活动”中。</translation>
    </message>
    <message>
        <source>can't reach the network at {address}. Tequio keeps trying; check your connection, or the address in Settings, Network.</source>
        <translation>无法连接 {address} 处的网络。Tequio 会继续尝试；请检查连接，或“设置 › 网络”中的地址。</translation>
    </message>
    <message>
        <source>no network was chosen yet. Choose one with Join a network.</source>
        <translation>还没有选择网络。请用“加入网络”选择一个。</translation>
    </message>
    <message>
        <source>can't reach the network at {address}. Resumes when it answers.</source>
        <translation>无法连接 {address} 处的网络。有响应后恢复。</translation>
    </message>
    <message>
        <source>the other computers of the run cannot be reached. Tequio keeps trying; the listen address is in Settings, Advanced.</source>
        <translation>无法连接训练任务中的其他电脑。Tequio 会继续尝试；监听地址在“设置 › 高级”中。</translation>
    </message>
    <message>
        <source>no run is open now. Resumes automatically when one opens.</source>
        <translation>目前没有开放的训练任务。一有开放就自动恢复。</translation>
    </message>
    <message>
        <source>no open run fits this computer. Resumes when one does; Runs says what each needs.</source>
        <translation>没有适合这台电脑的开放任务。有合适的任务时恢复；“训练任务”中列出了各任务的要求。</translation>
    </message>
    <message>
        <source>every open run that fits this device is trained by another one of this computer. Resumes when another one opens.</source>
        <translation>适合此设备的开放任务都已由这台电脑的另一设备训练。有新任务开放时恢复。</translation>
    </message>
    <message>
        <source>the run has ended. Resumes with another one; your points stay yours.</source>
        <translation>训练任务已结束。有新任务时恢复；积分仍归您所有。</translation>
    </message>
    <message>
        <source>this computer cannot take part in the run ({problem}). See Runs; retries automatically.</source>
        <translation>这台电脑不能参与该任务（{problem}）。详见“训练任务”；会自动重试。</translation>
    </message>
    <message>
        <source>the run brings its own code ({plugin}), which needs your consent. See Runs to allow it, or to choose another run.</source>
        <translation>此训练任务自带代码（{plugin}），需要您的同意。请在“训练任务”中允许，或选择其他训练任务。</translation>
    </message>
    <message>
        <source>your key cannot take part now ({problem}). See Activity for what you can do.</source>
        <translation>您的密钥现在不能参与（{problem}）。可以做什么，请看“活动”。</translation>
    </message>
    <message>
        <source>this network needs version {wanted} or newer; this is {own}. Resumes once Tequio is updated.</source>
        <translation>此网络需要版本 {wanted} 或更新；当前为 {own}。更新 Tequio 后恢复。</translation>
    </message>
    <message>
        <source>this computer's clock is {minutes} min ahead, so the network refuses its work. Resumes once the clock is set right.</source>
        <translation>这台电脑的时钟快了 {minutes} 分钟，网络因此拒绝它的工作。时钟校准后恢复。</translation>
    </message>
    <message>
        <source>this computer's clock is {minutes} min behind, so the network refuses its work. Resumes once the clock is set right.</source>
        <translation>这台电脑的时钟慢了 {minutes} 分钟，网络因此拒绝它的工作。时钟校准后恢复。</translation>
    </message>
    <message>
        <source>no device is enabled. Turn one on in Hardware.</source>
        <translation>没有启用任何设备。请在“硬件”中打开一个。</translation>
    </message>
    <message>
        <source>{device} has too little memory for this run, which needs {wanted} GB. Raise its limit in Hardware, choose another run, or open a cell with others in your network (tequio cell host).</source>
        <translation>{device} 的内存不足以运行此任务（需要 {wanted} GB）。请在“硬件”中提高上限、选择其他任务，或与同一网络中的其他人组建计算单元（tequio cell host）。</translation>
    </message>
    <message>
        <source>only {free} GB of disk space are free, and {wanted} GB should stay free. Resumes when there is 1 GB more than that.</source>
        <translation>磁盘只有 {free} GB 可用，而应保留 {wanted} GB。再多出 1 GB 后恢复。</translation>
    </message>
    <message>
        <source>cannot tell how much disk is free. Check that the store's folder is there.</source>
        <translation>无法得知磁盘还有多少可用空间。请检查存储文件夹是否存在。</translation>
    </message>
    <message>
        <source>the store holds {used} GB of at most {most} GB. Resumes when it has been trimmed; its limit is in Settings, Storage.</source>
        <translation>存储已占 {used} GB，上限为 {most} GB。清理后恢复；上限在“设置 › 存储”中。</translation>
    </message>
    <message>
        <source>the computer runs on battery. Resumes on mains power.</source>
        <translation>电脑正在使用电池。接通电源后恢复。</translation>
    </message>
    <message>
        <source>cannot tell whether the computer runs on battery. See Health in Activity, or allow lending on battery in Settings, When to lend.</source>
        <translation>无法得知电脑是否在使用电池。请看“活动”中的“健康状况”，或在“设置 › 何时贡献”中允许使用电池时贡献。</translation>
    </message>
    <message>
        <source>cannot tell whether the computer saves power. See Health in Activity, or allow that in Settings, When to lend.</source>
        <translation>无法得知电脑是否处于省电模式。请看“活动”中的“健康状况”，或在“设置 › 何时贡献”中允许。</translation>
    </message>
    <message>
        <source>the hardware probe does not answer. Resumes when it does; see Health in Activity.</source>
        <translation>硬件检测程序没有响应。响应后恢复；请看“活动”中的“健康状况”。</translation>
    </message>
    <message>
        <source>the hardware is being checked. Resumes in a moment.</source>
        <translation>正在检测硬件。稍后恢复。</translation>
    </message>
    <message>
        <source>power saving is on. Resumes when it is turned off.</source>
        <translation>省电模式已打开。关闭后恢复。</translation>
    </message>
    <message>
        <source>{device} is at {degrees} °C, above your limit of {limit} °C. Resumes when it is 5 °C below the limit.</source>
        <translation>{device} 温度为 {degrees} °C，高于上限 {limit} °C。降到上限以下 5 °C 时恢复。</translation>
    </message>
    <message>
        <source>a game is running ({program}). Resumes 60 s after it closes.</source>
        <translation>游戏正在运行（{program}）。关闭 60 秒后恢复。</translation>
    </message>
    <message>
        <source>a game is fullscreen ({program}). Resumes 60 s after it closes.</source>
        <translation>游戏处于全屏（{program}）。关闭 60 秒后恢复。</translation>
    </message>
    <message>
        <source>a film is fullscreen ({program}). Resumes 60 s after it closes.</source>
        <translation>视频处于全屏（{program}）。关闭 60 秒后恢复。</translation>
    </message>
    <message>
        <source>{program} is running, and you want nothing lent beside it. Resumes 60 s after it closes.</source>
        <translation>{program} 正在运行，您希望此时不贡献。关闭 60 秒后恢复。</translation>
    </message>
    <message>
        <source>a game or another exclusive program has just closed. Resumes {until}.</source>
        <translation>游戏或其他独占程序刚刚关闭。恢复时间：{until}。</translation>
    </message>
    <message>
        <source>outside the hours in which you lend. Resumes {until}.</source>
        <translation>不在您的贡献时段内。恢复时间：{until}。</translation>
    </message>
    <message>
        <source>no hour of the week is chosen. Choose some in Settings, When to lend.</source>
        <translation>没有选择每周的任何时段。请在“设置 › 何时贡献”中选择。</translation>
    </message>
    <message>
        <source>this month's {gb} GB of traffic are used up. Resumes {until}.</source>
        <translation>本月的 {gb} GB 流量已用完。恢复时间：{until}。</translation>
    </message>
    <message>
        <source>this network is metered. Resumes on another network.</source>
        <translation>此网络按流量计费。换到其他网络后恢复。</translation>
    </message>
    <message>
        <source>cannot tell whether this network is metered. See Health in Activity, or allow metered networks in Settings, Network.</source>
        <translation>无法得知此网络是否按流量计费。请看“活动”中的“健康状况”，或在“设置 › 网络”中允许按流量计费的网络。</translation>
    </message>
    <message>
        <source>you are using the computer. Resumes after {minutes} min without input.</source>
        <translation>您正在使用电脑。{minutes} 分钟无操作后恢复。</translation>
    </message>
    <message>
        <source>cannot tell whether you are away. See Health in Activity.</source>
        <translation>无法得知您是否离开。请看“活动”中的“健康状况”。</translation>
    </message>
    <message>
        <source>cannot tell whether you are away: nothing is known of your session. Resumes when its probes answer; see Health in Activity.</source>
        <translation>无法得知您是否离开：没有任何会话信息。检测恢复后继续；请看“活动”中的“健康状况”。</translation>
    </message>
    <message>
        <source>cannot tell when you last touched the computer. Resumes when it is locked; see Health in Activity.</source>
        <translation>无法得知您上次操作电脑的时间。电脑锁定后恢复；请看“活动”中的“健康状况”。</translation>
    </message>
    <message>
        <source>cannot tell whether a program fills the screen. Resumes when the computer is locked; see Health in Activity, or switch off pausing for games in Settings, When to lend.</source>
        <translation>无法得知是否有程序全屏。电脑锁定后恢复；请看“活动”中的“健康状况”，或在“设置 › 何时贡献”中关闭“游戏时暂停”。</translation>
    </message>
    <message>
        <source>cannot tell whether a game is running. See Health in Activity, or switch off pausing for games in Settings, When to lend.</source>
        <translation>无法得知是否有游戏在运行。请看“活动”中的“健康状况”，或在“设置 › 何时贡献”中关闭“游戏时暂停”。</translation>
    </message>
    <message>
        <source>cannot tell whether one of your exclusive programs is running. See Health in Activity, or empty their list in Settings, When to lend.</source>
        <translation>无法得知是否有独占程序在运行。请看“活动”中的“健康状况”，或在“设置 › 何时贡献”中清空其列表。</translation>
    </message>
    <message>
        <source>another user is using this computer. Resumes when they have logged out.</source>
        <translation>其他用户正在使用这台电脑。对方注销后恢复。</translation>
    </message>
    <message>
        <source>other programs are using {percent}% of {device}. Resumes 60 s after they finish.</source>
        <translation>其他程序占用了 {device} 的 {percent}%。结束 60 秒后恢复。</translation>
    </message>
    <message>
        <source>other programs needed {device}. Resumes {until}.</source>
        <translation>其他程序需要 {device}。恢复时间：{until}。</translation>
    </message>
    <message>
        <source>other programs are using {percent}% of your CPU. Resumes below {below}%.</source>
        <translation>其他程序占用了 CPU 的 {percent}%。低于 {below}% 时恢复。</translation>
    </message>
    <message>
        <source>cannot tell how much CPU other programs use. See Health in Activity, or set that limit to 100% in Settings, When to lend.</source>
        <translation>无法得知其他程序占用了多少 CPU。请看“活动”中的“健康状况”，或在“设置 › 何时贡献”中将该上限设为 100%。</translation>
    </message>
    <message>
        <source>{device} has {free} GB of memory free and training needs {wanted} GB. Resumes when other programs give it back.</source>
        <translation>{device} 有 {free} GB 内存可用，而训练需要 {wanted} GB。其他程序归还后恢复。</translation>
    </message>
    <message>
        <source>cannot tell what the graphics cards do: their probe does not answer. Resumes when it does; see Health in Activity.</source>
        <translation>无法得知显卡的状态：检测程序没有响应。响应后恢复；请看“活动”中的“健康状况”。</translation>
    </message>
    <message>
        <source>the graphics cards are being checked. Resumes in a moment.</source>
        <translation>正在检测显卡。稍后恢复。</translation>
    </message>
    <message>
        <source>cannot tell how busy other programs keep {device}. See Health in Activity, or set that limit to 100% in Settings, When to lend.</source>
        <translation>无法得知其他程序占用了多少 {device}。请看“活动”中的“健康状况”，或在“设置 › 何时贡献”中将该上限设为 100%。</translation>
    </message>
    <message>
        <source>cannot tell how much memory of {device} is free. See Health in Activity.</source>
        <translation>无法得知 {device} 还有多少可用内存。请看“活动”中的“健康状况”。</translation>
    </message>
    <message>
        <source>training was slowed down: another program needs the device. Resumes {until}.</source>
        <translation>训练变慢了：另一个程序需要该设备。恢复时间：{until}。</translation>
    </message>
    <message>
        <source>in {seconds} s</source>
        <translation>{seconds} 秒后</translation>
    </message>
    <message>
        <source>in {minutes} min</source>
        <translation>{minutes} 分钟后</translation>
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
        <translation>已启动，版本 {version}。</translation>
    </message>
    <message>
        <source>Your settings were changed.</source>
        <translation>您的设置已更改。</translation>
    </message>
    <message>
        <source>Joined the run {run}.</source>
        <translation>已加入训练任务 {run}。</translation>
    </message>
    <message>
        <source>Left the run {run}.</source>
        <translation>已离开训练任务 {run}。</translation>
    </message>
    <message>
        <source>The run {run} has ended.</source>
        <translation>训练任务 {run} 已结束。</translation>
    </message>
    <message>
        <source>{run}, round {round}: your work was accepted, for {points} points.</source>
        <translation>{run}，第 {round} 轮：您的工作被接受，获得 {points} 积分。</translation>
    </message>
    <message>
        <source>{run}, round {round}: {points} points for checking others' work.</source>
        <translation>{run}，第 {round} 轮：因检验他人的工作获得 {points} 积分。</translation>
    </message>
    <message>
        <source>{run}, round {round}: {points} points that another key shared with yours.</source>
        <translation>{run}，第 {round} 轮：另一个密钥与您的密钥分享了 {points} 积分。</translation>
    </message>
    <message>
        <source>{run}, round {round}: you were not asked to do anything that earns points.</source>
        <translation>{run}，第 {round} 轮：没有分配给您能获得积分的工作。</translation>
    </message>
    <message>
        <source>{run}, round {round}: too few witnesses received your work in time. This does not count against you.</source>
        <translation>{run}，第 {round} 轮：及时收到您的工作的见证者太少。这对您没有不利影响。</translation>
    </message>
    <message>
        <source>{run}, round {round}: the round ended without your work.</source>
        <translation>{run}，第 {round} 轮：该轮在没有您的工作的情况下结束。</translation>
    </message>
    <message>
        <source>{run}, round {round}: the round is void, and its work is assigned again.</source>
        <translation>{run}，第 {round} 轮：该轮无效，其工作会重新分配。</translation>
    </message>
    <message>
        <source>{run}, round {round}: the witnesses refused your work ({reason}).</source>
        <translation>{run}，第 {round} 轮：见证者拒绝了您的工作（{reason}）。</translation>
    </message>
    <message>
        <source>{run}, round {round}: {points} points for repeating another volunteer's work of round {audited}.</source>
        <translation>{run}，第 {round} 轮：因复算另一位志愿者在第 {audited} 轮的工作获得 {points} 积分。</translation>
    </message>
    <message>
        <source>{run}, round {round}: the round ended without your audit.</source>
        <translation>{run}，第 {round} 轮：该轮在没有您的审计的情况下结束。</translation>
    </message>
    <message>
        <source>You were chosen to repeat another volunteer's work of round {round}. This computer could not: {declined}. You are not asked again for a while; your training goes on.</source>
        <translation>您被选中复算另一位志愿者在第 {round} 轮的工作，但这台电脑未能完成：{declined}。一段时间内不会再次选中您；您的训练会继续。</translation>
    </message>
    <message>
        <source>Another volunteer repeated your work of round {round}. It counts, but the results differ slightly more than usual. Unusual hardware can cause this. To be sure, measure your device again in Hardware.</source>
        <translation>另一位志愿者复算了您在第 {round} 轮的工作。工作有效，但结果的差异略大于平常。特殊硬件可能造成这种情况。为稳妥起见，请在“硬件”中重新测速。</translation>
    </message>
    <message>
        <source>Your key is now {standing}. Other volunteers repeated the same work in an audit and got other results than you. Often the computer is at fault: measure its device again in Hardware, update the graphics driver, and test the memory (RAM). If that finds nothing, you can appeal in Settings, Account and keys.</source>
        <translation>您的密钥现在{standing}。其他志愿者在审计中复算了同样的工作，得到的结果与您的不同。问题往往出在电脑：请在“硬件”中重新测速，更新显卡驱动，并测试内存（RAM）。如果没有发现问题，可以在“设置 › 账号和密钥”中申诉。</translation>
    </message>
    <message>
        <source>The ledger says that you have {ledger} points, but its log proves {proven}. What is not proven is not counted here.</source>
        <translation>账本称您有 {ledger} 积分，但其日志证明的是 {proven}。没有得到证明的不在这里计入。</translation>
    </message>
    <message>
        <source>{run}: downloaded and verified the model from round {round}.</source>
        <translation>{run}：已下载并验证第 {round} 轮的模型。</translation>
    </message>
    <message>
        <source>Your key is now {standing}.</source>
        <translation>您的密钥现在{standing}。</translation>
    </message>
    <message>
        <source>Your key is now {standing}. Reason: {cause}. If that is wrong, you can appeal in Settings, Account and keys.</source>
        <translation>您的密钥现在{standing}。原因：{cause}。如果有误，可以在“设置 › 账号和密钥”中申诉。</translation>
    </message>
    <message>
        <source>The network cannot be reached. Work goes on without it for a while.</source>
        <translation>无法连接网络。工作会在没有网络的情况下继续一段时间。</translation>
    </message>
    <message>
        <source>The ledger can be reached again.</source>
        <translation>账本恢复连接。</translation>
    </message>
    <message>
        <source>The ledger shows another log than before ({problem}). Its answers are no longer trusted.</source>
        <translation>账本显示的日志与以前不同（{problem}）。不再信任它的应答。</translation>
    </message>
    <message>
        <source>The training program stopped unexpectedly and was restarted.</source>
        <translation>训练程序意外停止，已重新启动。</translation>
    </message>
    <message>
        <source>A file was damaged or belongs to another program. It was kept as {file}, and a new one was started.</source>
        <translation>有文件损坏或属于其他程序。它已保留为 {file}，并新建了一个。</translation>
    </message>
    <message>
        <source>This computer's clock was changed by {seconds} s.</source>
        <translation>这台电脑的时钟被调整了 {seconds} 秒。</translation>
    </message>
    <message>
        <source>It is not known yet whether other computers can connect to this one.</source>
        <translation>尚不清楚其他电脑能否连接到这台电脑。</translation>
    </message>
    <message>
        <source>Other computers can connect to this one.</source>
        <translation>其他电脑可以连接到这台电脑。</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, because your router is in between. Nothing is lost: your work travels through seeds. To change it, let Tequio open a port on the router in Settings, Network, or forward TCP port {port} to this computer there.</source>
        <translation>其他电脑无法连接到这台电脑，因为中间隔着您的路由器。不会有任何损失：您的工作会经由种子节点传送。要改变这一点，请在“设置 › 网络”中让 Tequio 在路由器上打开端口，或在路由器上将 TCP 端口 {port} 转发到这台电脑。</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, probably because of a firewall. Nothing is lost: your work travels through seeds. To change it, allow incoming connections to TCP port {port}.</source>
        <translation>其他电脑无法连接到这台电脑，可能是防火墙所致。不会有任何损失：您的工作会经由种子节点传送。要改变这一点，请允许到 TCP 端口 {port} 的传入连接。</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one yet. Tequio is asking your router to open a port.</source>
        <translation>其他电脑尚无法连接到这台电脑。Tequio 正在请求路由器打开端口。</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, although your router has opened a port: another router or a firewall is in between. Nothing is lost: your work travels through seeds.</source>
        <translation>其他电脑无法连接到这台电脑，虽然您的路由器已打开端口：中间还隔着另一台路由器或防火墙。不会有任何损失：您的工作会经由种子节点传送。</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, and no router answers by UPnP or NAT-PMP. Nothing is lost: your work travels through seeds. To change it, switch UPnP on in your router, or forward TCP port {port} to this computer there.</source>
        <translation>其他电脑无法连接到这台电脑，也没有路由器通过 UPnP 或 NAT-PMP 应答。不会有任何损失：您的工作会经由种子节点传送。要改变这一点，请在路由器上开启 UPnP，或在其中将 TCP 端口 {port} 转发到这台电脑。</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, and your router refused to open a port ({problem}). Nothing is lost: your work travels through seeds. To change it, forward TCP port {port} to this computer in your router.</source>
        <translation>其他电脑无法连接到这台电脑，且路由器拒绝打开端口（{problem}）。不会有任何损失：您的工作会经由种子节点传送。要改变这一点，请在路由器上将 TCP 端口 {port} 转发到这台电脑。</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, because your router is behind another one: your provider's, or your building's. Nothing is lost: your work travels through seeds. Only your provider can change it, with a public address.</source>
        <translation>其他电脑无法连接到这台电脑，因为您的路由器位于另一台路由器之后：运营商的，或楼宇的。不会有任何损失：您的工作会经由种子节点传送。只有运营商能改变这一点，即提供公网地址。</translation>
    </message>
    <message>
        <source>Other members can still connect directly, when a seed introduces you to each other.</source>
        <translation>不过，由种子节点为双方牵线时，其他成员仍可直接连接。</translation>
    </message>
    <message>
        <source>Seeds cannot introduce you to other members, because your router gives each connection another port.</source>
        <translation>由于您的路由器为每个连接分配不同的端口，种子节点无法为您与其他成员牵线。</translation>
    </message>
    <message>
        <source>An event that this version does not know ({code}).</source>
        <translation>此版本不认识的事件（{code}）。</translation>
    </message>
    <message>
        <source>for a reason that this version does not know ({reason})</source>
        <translation>此版本不认识的原因（{reason}）</translation>
    </message>
    <message>
        <source>Pending</source>
        <translation>待确认</translation>
    </message>
    <message>
        <source>Verified</source>
        <translation>已验证</translation>
    </message>
    <message>
        <source>Rejected</source>
        <translation>被拒</translation>
    </message>
    <message>
        <source>the round is void; its work is assigned again</source>
        <translation>该轮无效；其工作会重新分配</translation>
    </message>
    <message>
        <source>the round ended without your work</source>
        <translation>该轮在没有您的工作的情况下结束</translation>
    </message>
    <message>
        <source>too few witnesses received your work in time; this does not count against you</source>
        <translation>及时收到您的工作的见证者太少；这对您没有不利影响</translation>
    </message>
    <message>
        <source>you were not asked to do anything that earns points</source>
        <translation>没有分配给您能获得积分的工作</translation>
    </message>
    <message>
        <source>the round ended without your audit</source>
        <translation>该轮在没有您的审计的情况下结束</translation>
    </message>
    <message>
        <source>the witnesses gave no reason</source>
        <translation>见证者没有说明原因</translation>
    </message>
    <message>
        <source>the contribution had the wrong length</source>
        <translation>训练更新的长度不对</translation>
    </message>
    <message>
        <source>the contribution was not in the right format</source>
        <translation>训练更新的格式不对</translation>
    </message>
    <message>
        <source>the contribution was in a format of another version</source>
        <translation>训练更新是另一版本的格式</translation>
    </message>
    <message>
        <source>the contribution did not have the shape of the model</source>
        <translation>训练更新的形状与模型不符</translation>
    </message>
    <message>
        <source>the contribution had marks that are not allowed</source>
        <translation>训练更新含有不允许的标记</translation>
    </message>
    <message>
        <source>the contribution was for another run</source>
        <translation>训练更新属于另一个任务</translation>
    </message>
    <message>
        <source>the contribution was for another round</source>
        <translation>训练更新属于另一轮</translation>
    </message>
    <message>
        <source>the work began from another version of the model</source>
        <translation>工作的起点是另一个版本的模型</translation>
    </message>
    <message>
        <source>the contribution named another trainer</source>
        <translation>训练更新写的是另一位训练者</translation>
    </message>
    <message>
        <source>the work used other text than was given out</source>
        <translation>工作使用的文本不是分配的文本</translation>
    </message>
    <message>
        <source>the number of tokens was not what was given out</source>
        <translation>token 数与分配的不符</translation>
    </message>
    <message>
        <source>the number of steps was not what was given out</source>
        <translation>步数与分配的不符</translation>
    </message>
    <message>
        <source>the bytes were not those that were promised</source>
        <translation>字节与承诺的不符</translation>
    </message>
    <message>
        <source>a scale in the contribution was not allowed</source>
        <translation>训练更新中有不允许的缩放值</translation>
    </message>
    <message>
        <source>the contribution had something where there must be nothing</source>
        <translation>训练更新在必须为空的地方有内容</translation>
    </message>
    <message>
        <source>a block of the contribution had too many or too few values</source>
        <translation>训练更新的某个块中值太多或太少</translation>
    </message>
    <message>
        <source>the contribution named a place outside of the model</source>
        <translation>训练更新指向了模型以外的位置</translation>
    </message>
    <message>
        <source>the places in the contribution were out of order</source>
        <translation>训练更新中的位置次序不对</translation>
    </message>
    <message>
        <source>a value in the contribution was not allowed</source>
        <translation>训练更新中有不允许的值</translation>
    </message>
    <message>
        <source>the contribution was empty</source>
        <translation>训练更新为空</translation>
    </message>
    <message>
        <source>the commitment was made without the contribution</source>
        <translation>作出承诺时并没有训练更新</translation>
    </message>
    <message>
        <source>the contribution was far larger than the others</source>
        <translation>训练更新远大于其他的</translation>
    </message>
    <message>
        <source>the contribution pointed away from what the witnesses measured themselves</source>
        <translation>训练更新的方向与见证者自己的测量相反</translation>
    </message>
    <message>
        <source>the contribution was nearly the same as an earlier one</source>
        <translation>训练更新与先前的一个几乎相同</translation>
    </message>
    <message>
        <source>new</source>
        <translation>为新成员</translation>
    </message>
    <message>
        <source>active</source>
        <translation>为正式成员</translation>
    </message>
    <message>
        <source>under watch, and trains on as before</source>
        <translation>受到观察，训练照常</translation>
    </message>
    <message>
        <source>quarantined: it serves the swarm, and does not train until that is over</source>
        <translation>被隔离：仍为网络提供数据，隔离结束前不训练</translation>
    </message>
    <message>
        <source>on probation, and trains again</source>
        <translation>处于观察期，已重新开始训练</translation>
    </message>
    <message>
        <source>banned, and in no roster any more</source>
        <translation>被封禁，不再进入任何名册</translation>
    </message>
    <message>
        <source>revoked: it can do nothing more</source>
        <translation>被吊销：不能再做任何事</translation>
    </message>
    <message>
        <source>replaced by another key, and can do nothing more</source>
        <translation>已由另一把密钥取代，不能再做任何事</translation>
    </message>
    <message>
        <source>enough contributions were accepted</source>
        <translation>已有足够多的训练更新被接受</translation>
    </message>
    <message>
        <source>signed two different commitments for one round</source>
        <translation>为同一轮签署了两份不同的承诺</translation>
    </message>
    <message>
        <source>signed two different statements under one number</source>
        <translation>用同一编号签署了两份不同的声明</translation>
    </message>
    <message>
        <source>signed a contribution header that breaks a rule</source>
        <translation>签署了违反规则的训练更新头部</translation>
    </message>
    <message>
        <source>committed to bytes that break a rule</source>
        <translation>对违反规则的字节作出了承诺</translation>
    </message>
    <message>
        <source>signed a witness proof without having been elected</source>
        <translation>未被选为见证者却签署了见证证明</translation>
    </message>
    <message>
        <source>signed an invalid witness proof</source>
        <translation>签署了无效的见证证明</translation>
    </message>
    <message>
        <source>vouched for a contribution without having its bytes</source>
        <translation>在没有贡献数据的情况下为其作证</translation>
    </message>
    <message>
        <source>a contribution was far from the others, according to two witnesses</source>
        <translation>据两位见证者称，训练更新与其他的相差很远</translation>
    </message>
    <message>
        <source>witness proofs were contradicted by the other witnesses</source>
        <translation>见证证明被其他见证者否定</translation>
    </message>
    <message>
        <source>the term of a quarantine is over</source>
        <translation>隔离期已满</translation>
    </message>
    <message>
        <source>no organiser answered an appeal in time</source>
        <translation>没有组织者及时答复申诉</translation>
    </message>
    <message>
        <source>accused somebody of a fault that the evidence does not show</source>
        <translation>指控他人违规，而证据并未表明违规</translation>
    </message>
    <message>
        <source>a contribution was not the training that it claimed, as its auditors agree</source>
        <translation>审计者一致认为，训练更新并非来自其声称的训练</translation>
    </message>
    <message>
        <source>an audit was contradicted by the other auditors</source>
        <translation>审计被其他审计者否定</translation>
    </message>
    <message>
        <source>further audits were contradicted by the other auditors</source>
        <translation>又有审计被其他审计者否定</translation>
    </message>
    <message>
        <source>was there, and did not open contributions to their auditors</source>
        <translation>在场却没有向审计者公开训练更新</translation>
    </message>
    <message>
        <source>contributions did not help more on their own windows than on others, according to the witnesses of many rounds</source>
        <translation>据多轮见证者称，训练更新对自己窗口的帮助并不比对其他窗口更大</translation>
    </message>
    <message>
        <source>it was not in the run in that round</source>
        <translation>该轮时它不在任务中</translation>
    </message>
    <message>
        <source>it has not read an earlier audit of that work</source>
        <translation>它没有读到该工作先前的审计</translation>
    </message>
    <message>
        <source>it no longer has the model of that round, or its copy is damaged</source>
        <translation>它不再持有该轮的模型，或其副本已损坏</translation>
    </message>
    <message>
        <source>the data did not arrive in time</source>
        <translation>数据未能及时送达</translation>
    </message>
    <message>
        <source>the training program could not repeat it</source>
        <translation>训练程序无法复算</translation>
    </message>
    <message>
        <source>the disk could not be written</source>
        <translation>磁盘无法写入</translation>
    </message>
    <message>
        <source>Auditing</source>
        <translation>审计中</translation>
    </message>
    <message>
        <source>Repeating another volunteer's work of round {round}. You are paid as for training.</source>
        <translation>正在复算另一位志愿者在第 {round} 轮的工作。报酬与训练相同。</translation>
    </message>
</context>
</TS>
