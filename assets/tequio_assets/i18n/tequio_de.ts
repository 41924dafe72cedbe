<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de">
<context>
    <name>ActivityPage</name>
    <message>
        <source>View</source>
        <translation>Ansicht</translation>
    </message>
    <message>
        <source>Timeline</source>
        <translation>Verlauf</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>Protokoll</translation>
    </message>
    <message>
        <source>Health</source>
        <translation>Zustand</translation>
    </message>
    <message>
        <source>What happened here, newest first. It is kept on this computer only.</source>
        <translation>Was hier geschehen ist, das Neueste zuerst. Es bleibt nur auf diesem Computer.</translation>
    </message>
    <message>
        <source>Activity</source>
        <translation>Aktivität</translation>
    </message>
</context>
<context>
    <name>AnyRow</name>
    <message>
        <source>Chosen</source>
        <translation>Gewählt</translation>
    </message>
    <message>
        <source>Choose for me</source>
        <translation>Für mich auswählen</translation>
    </message>
    <message>
        <source>A run that fits, with places free</source>
        <translation>Ein passender Lauf mit freien Plätzen</translation>
    </message>
</context>
<context>
    <name>AppCompetitionsPage</name>
    <message>
        <source>Runs compete on unseen text.</source>
        <translation>Trainingsläufe messen sich an Texten, die keiner kennt.</translation>
    </message>
    <message>
        <source>Competitions</source>
        <translation>Wettbewerbe</translation>
    </message>
    <message>
        <source>Join this run</source>
        <translation>Diesem Lauf beitreten</translation>
    </message>
    <message>
        <source>Stay on this run</source>
        <translation>Bei diesem Lauf bleiben</translation>
    </message>
    <message>
        <source>Runs compete on unseen text. Updated {ago}.</source>
        <translation>Trainingsläufe messen sich an Texten, die keiner kennt. Liste {ago} gelesen.</translation>
    </message>
    <message>
        <source>{problem}. Tequio will keep trying.</source>
        <translation>{problem}. Tequio versucht es weiter.</translation>
    </message>
    <message>
        <source>Couldn't load the list</source>
        <translation>Die Liste konnte nicht geladen werden</translation>
    </message>
    <message>
        <source>No competition yet</source>
        <translation>Noch kein Wettbewerb</translation>
    </message>
    <message>
        <source>Organisers open one so that runs can be compared. It'll appear here, and you'll be notified.</source>
        <translation>Organisatoren eröffnen Wettbewerbe, um Läufe zu vergleichen. Neue erscheinen hier, und du wirst benachrichtigt.</translation>
    </message>
    <message>
        <source>Looking for competitions</source>
        <translation>Wettbewerbe werden gesucht</translation>
    </message>
    <message>
        <source>Asking the network which competitions there are.</source>
        <translation>Das Register wird gefragt, welche Wettbewerbe es gibt.</translation>
    </message>
</context>
<context>
    <name>AppModel</name>
    <message>
        <source>The network does not answer</source>
        <translation>Das Netzwerk antwortet nicht</translation>
    </message>
    <message>
        <source>The network does not answer. It may still accept the request later</source>
        <translation>Das Netzwerk antwortet nicht. Es kann die Anfrage später noch annehmen</translation>
    </message>
</context>
<context>
    <name>AppealControl</name>
    <message>
        <source>Appeal…</source>
        <translation>Einspruch …</translation>
    </message>
    <message>
        <source>Your appeal is in log entry {entry} and waits for the organisers.</source>
        <translation>Dein Einspruch steht im Protokoll als Eintrag {entry} und wartet auf die Organisatoren.</translation>
    </message>
    <message>
        <source>Restricted by log entry {entry}: {why}.</source>
        <translation>Eingeschränkt durch Protokolleintrag {entry}: {why}.</translation>
    </message>
</context>
<context>
    <name>AppealDialog</name>
    <message>
        <source>Appeal</source>
        <translation>Einspruch</translation>
    </message>
    <message>
        <source>An organiser reviews what your key is accused of. You can appeal once a day. If nobody answers within 14 days, a quarantine turns into probation.</source>
        <translation>Ein Organisator prüft, was deinem Schlüssel vorgeworfen wird. Du kannst einmal am Tag Einspruch einlegen. Antwortet 14 Tage lang niemand, wird aus einer Quarantäne eine Bewährung.</translation>
    </message>
    <message>
        <source>Send the appeal</source>
        <translation>Einspruch senden</translation>
    </message>
    <message>
        <source>What happened (optional)</source>
        <translation>Was geschehen ist (freiwillig)</translation>
    </message>
    <message>
        <source>The text is public and permanent: no names, addresses or passwords.</source>
        <translation>Der Text ist öffentlich und bleibt für immer: keine Namen, Adressen oder Passwörter.</translation>
    </message>
    <message>
        <source>The text has {length} bytes, at most {most} are allowed: shorten it.</source>
        <translation>Der Text hat {length} Bytes, höchstens {most} sind erlaubt: Kürze ihn.</translation>
    </message>
</context>
<context>
    <name>AuditNotice</name>
    <message>
        <source>Another volunteer repeated your work of round {round}, and the results differ slightly more than usual. Your work counts, and you lose nothing. Unusual hardware, overclocking or an old driver can cause this; measuring the device shows whether it works as fast as before.</source>
        <translation>Ein anderer Freiwilliger hat deine Arbeit aus Runde {round} wiederholt, und die Ergebnisse weichen etwas mehr ab als üblich. Deine Arbeit zählt, und du verlierst nichts. Ursache können ungewöhnliche Hardware, Übertaktung oder ein alter Treiber sein; eine Messung zeigt, ob das Gerät noch so schnell ist wie vorher.</translation>
    </message>
    <message>
        <source>Pause to measure</source>
        <translation>Zum Messen pausieren</translation>
    </message>
    <message>
        <source>Measure again</source>
        <translation>Erneut messen</translation>
    </message>
</context>
<context>
    <name>BackupDialog</name>
    <message>
        <source>Back up your key</source>
        <translation>Sichere deinen Schlüssel</translation>
    </message>
    <message>
        <source>Anyone with this key has your points. If this disk fails, only a backup helps.</source>
        <translation>Wer diesen Schlüssel hat, hat deine Punkte. Fällt dieses Laufwerk aus, hilft nur eine Sicherung.</translation>
    </message>
    <message>
        <source>Kind of backup</source>
        <translation>Art der Sicherung</translation>
    </message>
    <message>
        <source>24 words</source>
        <translation>24 Wörter</translation>
    </message>
    <message>
        <source>A file</source>
        <translation>Eine Datei</translation>
    </message>
    <message>
        <source>The file is sealed under a passphrase. Keep the two in different places, away from this computer.</source>
        <translation>Die Datei ist mit einer Passphrase verschlüsselt. Bewahre beides an verschiedenen Orten auf, nicht auf diesem Computer.</translation>
    </message>
    <message>
        <source>Save the file…</source>
        <translation>Datei speichern …</translation>
    </message>
    <message>
        <source>Show the words</source>
        <translation>Wörter anzeigen</translation>
    </message>
    <message>
        <source>I have written them down</source>
        <translation>Ich habe sie aufgeschrieben</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>Fertig</translation>
    </message>
    <message>
        <source>Save the backup</source>
        <translation>Sicherung speichern</translation>
    </message>
</context>
<context>
    <name>BackupSource</name>
    <message>
        <source>Kind of backup</source>
        <translation>Art der Sicherung</translation>
    </message>
    <message>
        <source>24 words</source>
        <translation>24 Wörter</translation>
    </message>
    <message>
        <source>A file</source>
        <translation>Eine Datei</translation>
    </message>
    <message>
        <source>The 24 words, in their order</source>
        <translation>Die 24 Wörter in ihrer Reihenfolge</translation>
    </message>
    <message>
        <source>Choose the file…</source>
        <translation>Datei auswählen …</translation>
    </message>
    <message>
        <source>Choose the backup</source>
        <translation>Sicherung auswählen</translation>
    </message>
</context>
<context>
    <name>BackupWordsPane</name>
    <message>
        <source>Word {number}</source>
        <translation>Wort {number}</translation>
    </message>
    <message>
        <source>To check what you wrote, type two of the words.</source>
        <translation>Damit sicher ist, dass auf dem Papier alles stimmt, gib zwei der Wörter ein.</translation>
    </message>
    <message>
        <source>Word {number} does not match. Look at the paper again.</source>
        <translation>Wort {number} ist ein anderes. Sieh noch einmal auf dem Papier nach.</translation>
    </message>
    <message>
        <source>Write them on paper in this order: no photo, no cloud. Nobody from Tequio will ever ask for them.</source>
        <translation>Schreib sie in dieser Reihenfolge auf Papier: kein Foto, keine Cloud. Niemand von Tequio wird je danach fragen.</translation>
    </message>
</context>
<context>
    <name>BadgesCard</name>
    <message>
        <source>Badges</source>
        <translation>Abzeichen</translation>
    </message>
    <message>
        <source>Each badge opens the entry of the public log that proves it.</source>
        <translation>Jedes Abzeichen öffnet den Eintrag im öffentlichen Protokoll, der es belegt.</translation>
    </message>
    <message numerus="yes">
        <source>Current streak: %n day(s) in a row with accepted work.</source>
        <translation>
            <numerusform>Aktuelle Serie: %n Tag mit angenommener Arbeit.</numerusform>
            <numerusform>Aktuelle Serie: %n Tage in Folge mit angenommener Arbeit.</numerusform>
        </translation>
    </message>
    <message>
        <source>No accepted work today (UTC) yet.</source>
        <translation>Der heutige Tag (UTC) fehlt noch.</translation>
    </message>
    <message>
        <source>No streak: no work was accepted lately.</source>
        <translation>Keine Serie: In letzter Zeit wurde keine Arbeit angenommen.</translation>
    </message>
    <message>
        <source>Next badge: {badge}, {reached} of {needed}</source>
        <translation>Nächstes Abzeichen: {badge}, {reached} von {needed}</translation>
    </message>
    <message>
        <source>First round</source>
        <translation>Erste Runde</translation>
    </message>
    <message>
        <source>A round accepted work of this key for the first time.</source>
        <translation>Zum ersten Mal hat eine Runde Arbeit dieses Schlüssels angenommen.</translation>
    </message>
    <message>
        <source>{n} rounds</source>
        <translation>{n} Runden</translation>
    </message>
    <message>
        <source>{n} rounds accepted work of this key.</source>
        <translation>{n} Runden haben Arbeit dieses Schlüssels angenommen.</translation>
    </message>
    <message>
        <source>{n} days in a row</source>
        <translation>{n} Tage in Folge</translation>
    </message>
    <message>
        <source>Work was accepted on {n} days in a row.</source>
        <translation>An {n} Tagen in Folge wurde Arbeit angenommen.</translation>
    </message>
    <message>
        <source>1 EFLOP</source>
        <translation>1 EFLOP</translation>
    </message>
    <message>
        <source>This key did 10^18 calculations, which are 100,000 points.</source>
        <translation>Dieser Schlüssel hat 10^18 Rechenschritte geleistet, das sind 100.000 Punkte.</translation>
    </message>
    <message>
        <source>First audit</source>
        <translation>Erste Nachprüfung</translation>
    </message>
    <message>
        <source>This key repeated another volunteer's work to check it.</source>
        <translation>Dieser Schlüssel hat die Arbeit eines anderen Freiwilligen wiederholt, um sie zu prüfen.</translation>
    </message>
    <message>
        <source>Measured a model</source>
        <translation>Ein Modell gemessen</translation>
    </message>
    <message>
        <source>This key measured how good a model is, on text that nobody trains on.</source>
        <translation>Dieser Schlüssel hat gemessen, wie gut ein Modell ist: an Text, mit dem niemand trainiert.</translation>
    </message>
    <message>
        <source>Judged a competition</source>
        <translation>Jury eines Wettbewerbs</translation>
    </message>
    <message>
        <source>This key scored a model in a competition.</source>
        <translation>Dieser Schlüssel hat in einem Wettbewerb ein Modell bewertet.</translation>
    </message>
</context>
<context>
    <name>BenchmarkRow</name>
    <message>
        <source>Benchmark</source>
        <translation>Geschwindigkeitstest</translation>
    </message>
    <message>
        <source>Measure</source>
        <translation>Messen</translation>
    </message>
    <message>
        <source>Measure again</source>
        <translation>Erneut messen</translation>
    </message>
    <message>
        <source>Measuring</source>
        <translation>Messung läuft</translation>
    </message>
    <message>
        <source>Trains a small model for a few seconds.</source>
        <translation>Trainiert einige Sekunden lang ein kleines Modell.</translation>
    </message>
    <message>
        <source>Not measured: {why}.</source>
        <translation>Nicht gemessen: {why}.</translation>
    </message>
    <message>
        <source>Trains a small model for a few seconds and says how fast this device is.</source>
        <translation>Trainiert einige Sekunden lang ein kleines Modell und zeigt, wie schnell dieses Gerät ist.</translation>
    </message>
    <message>
        <source>Switch the device off first to get a meaningful result.</source>
        <translation>Schalte das Gerät vorher aus, damit das Ergebnis aussagekräftig ist.</translation>
    </message>
    <message>
        <source>{tokens} tokens per second</source>
        <translation>{tokens} Token pro Sekunde</translation>
    </message>
    <message>
        <source>{memory} of memory</source>
        <translation>{memory} Speicher</translation>
    </message>
    <message>
        <source>{figures}.</source>
        <translation>{figures}.</translation>
    </message>
</context>
<context>
    <name>CardDownload</name>
    <message>
        <source>The network has no picture of this page ({problem}). Copy the link instead.</source>
        <translation>Das Netzwerk hat kein Bild dieser Seite ({problem}). Kopiere stattdessen den Link.</translation>
    </message>
    <message>
        <source>The picture could not be fetched ({problem}). Check your connection, and try again.</source>
        <translation>Das Bild konnte nicht geladen werden ({problem}). Prüfe deine Verbindung und versuche es noch einmal.</translation>
    </message>
    <message>
        <source>{file} was not written: {why}. Choose another place, or try again.</source>
        <translation>{file} wurde nicht geschrieben: {why}. Wähle einen anderen Ort oder versuche es noch einmal.</translation>
    </message>
</context>
<context>
    <name>ChatCard</name>
    <message>
        <source>Try the model</source>
        <translation>Modell ausprobieren</translation>
    </message>
    <message>
        <source>What you and the model wrote</source>
        <translation>Was du und das Modell geschrieben habt</translation>
    </message>
    <message>
        <source>The newest model answers here if it was trained on conversations, and otherwise continues what you write. Early in a run that is gibberish; it improves round by round. Its words are generated; they are not anyone's opinion.</source>
        <translation>Das neueste Modell antwortet hier, wenn es mit Gesprächen trainiert wurde; sonst setzt es fort, was du schreibst. Am Anfang eines Laufs ist das Kauderwelsch; es wird von Runde zu Runde besser. Seine Worte sind erzeugt und niemandes Meinung.</translation>
    </message>
    <message>
        <source>Preparing the model</source>
        <translation>Modell wird vorbereitet</translation>
    </message>
    <message>
        <source>Your text</source>
        <translation>Dein Text</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>Senden</translation>
    </message>
    <message>
        <source>New conversation</source>
        <translation>Neues Gespräch</translation>
    </message>
    <message>
        <source>The model needs what training needs, which is not installed yet.</source>
        <translation>Das Modell braucht dasselbe wie das Training, und das ist noch nicht installiert.</translation>
    </message>
    <message>
        <source>{program} has priority now. The model can answer once it is closed.</source>
        <translation>{program} hat jetzt Vorrang. Das Modell kann antworten, sobald es geschlossen ist.</translation>
    </message>
    <message>
        <source>The newest model is not on this computer yet. It comes with the next round that you take part in, or you download it now.</source>
        <translation>Das neueste Modell ist noch nicht auf diesem Computer. Es kommt mit der nächsten Runde, an der du teilnimmst, oder du lädst es jetzt herunter.</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>Herunterladen</translation>
    </message>
    <message>
        <source>There is not enough memory: the model needs about {needed}, and {free} are free. Close other programs, then try again.</source>
        <translation>Der Arbeitsspeicher reicht nicht: Das Modell braucht etwa {needed}, und {free} sind frei. Schließe andere Programme und versuche es dann erneut.</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Erneut versuchen</translation>
    </message>
    <message>
        <source>The model could not be started, or stopped working.</source>
        <translation>Das Modell konnte nicht gestartet werden oder funktioniert nicht mehr.</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Stoppen</translation>
    </message>
    <message>
        <source>Ask something, or begin a text</source>
        <translation>Frag etwas oder beginne einen Text</translation>
    </message>
    <message>
        <source>Ask something</source>
        <translation>Frag etwas</translation>
    </message>
    <message>
        <source>Begin a text</source>
        <translation>Beginne einen Text</translation>
    </message>
    <message>
        <source>Downloading the newest model: {done} of {total}</source>
        <translation>Das neueste Modell wird heruntergeladen: {done} von {total}</translation>
    </message>
    <message>
        <source>Preparing the newest model, checked against the public log…</source>
        <translation>Das neueste Modell wird vorbereitet und mit dem öffentlichen Protokoll verglichen…</translation>
    </message>
    <message>
        <source>The model of round {number} runs on this computer's processor.</source>
        <translation>Das Modell der Runde {number} läuft auf dem Prozessor dieses Computers.</translation>
    </message>
    <message>
        <source>The model of round {number} runs on this computer's processor, slower while it also trains.</source>
        <translation>Das Modell der Runde {number} läuft auf dem Prozessor dieses Computers, langsamer, solange er auch trainiert.</translation>
    </message>
    <message>
        <source>The model is closed. Your next question starts it again; it will not remember this conversation.</source>
        <translation>Das Modell ist geschlossen. Deine nächste Frage startet es wieder; an dieses Gespräch erinnert es sich dann nicht.</translation>
    </message>
    <message>
        <source>It runs on this computer's processor; nothing is sent anywhere.</source>
        <translation>Es läuft auf dem Prozessor dieses Computers; nichts wird versendet.</translation>
    </message>
</context>
<context>
    <name>CheckRow</name>
    <message>
        <source>Not available on this system</source>
        <translation>Auf diesem System nicht verfügbar</translation>
    </message>
    <message>
        <source>OK</source>
        <translation>OK</translation>
    </message>
    <message>
        <source>Checking…</source>
        <translation>Wird geprüft…</translation>
    </message>
    <message>
        <source>Unknown</source>
        <translation>Unbekannt</translation>
    </message>
</context>
<context>
    <name>CheckStep</name>
    <message>
        <source>Can this computer take part?</source>
        <translation>Kann dieser Computer mitmachen?</translation>
    </message>
    <message>
        <source>Takes five seconds at most. Checks this computer and asks the network which runs are open.</source>
        <translation>Dauert höchstens fünf Sekunden. Prüft diesen Computer und fragt das Netzwerk, welche Läufe offen sind.</translation>
    </message>
    <message>
        <source>Check again</source>
        <translation>Erneut prüfen</translation>
    </message>
</context>
<context>
    <name>ChildTransport</name>
    <message>
        <source>The worker was ended from outside ({code}).</source>
        <translation>Der Hintergrunddienst wurde von außen beendet ({code}).</translation>
    </message>
    <message>
        <source>The worker has ended ({code}).</source>
        <translation>Der Hintergrunddienst hat sich beendet ({code}).</translation>
    </message>
</context>
<context>
    <name>CodeConsentDialog</name>
    <message>
        <source>Allow the code of {run}?</source>
        <translation>Den Code von {run} erlauben?</translation>
    </message>
    <message>
        <source>This run brings code that is not part of Tequio. It was written or chosen by the run's organisers ({keys}).</source>
        <translation>Dieser Lauf bringt Code mit, der nicht zu Tequio gehört. Die Organisatoren des Laufs haben ihn geschrieben oder ausgewählt ({keys}).</translation>
    </message>
    <message>
        <source>Allow this code</source>
        <translation>Diesen Code erlauben</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>Nicht jetzt</translation>
    </message>
    <message>
        <source>I trust the author of this code</source>
        <translation>Ich vertraue dem Autor dieses Codes</translation>
    </message>
    <message>
        <source>{name} {version}, {size}, archive {archive}</source>
        <translation>{name} {version}, {size}, Archiv {archive}</translation>
    </message>
    <message>
        <source>It runs in the trainer: it computes on your device, and reads what belongs to the run.</source>
        <translation>Er läuft im Trainer: Er rechnet auf deinem Gerät und liest, was zum Lauf gehört.</translation>
    </message>
    <message>
        <source>It makes what your key signs in this run. Bad code can cost points, or your key's standing.</source>
        <translation>Er erzeugt, was dein Schlüssel in diesem Lauf signiert. Schlechter Code kann Punkte oder das Ansehen deines Schlüssels kosten.</translation>
    </message>
    <message>
        <source>Your consent is for these exact bytes. A new version asks again; you can take the consent back here at any time.</source>
        <translation>Deine Zustimmung gilt genau für diese Bytes. Eine neue Version fragt erneut; du kannst die Zustimmung hier jederzeit zurücknehmen.</translation>
    </message>
    <message>
        <source>The sandbox keeps it from your key, your home folder, the network and other programs.</source>
        <translation>Die Sandbox hält ihn von deinem Schlüssel, deinem persönlichen Ordner, dem Netz und anderen Programmen fern.</translation>
    </message>
    <message>
        <source>This computer has no sandbox for it: it could read your files and your key, and use the network.</source>
        <translation>Dieser Computer hat keine Sandbox dafür: Er könnte deine Dateien und deinen Schlüssel lesen und das Netz nutzen.</translation>
    </message>
</context>
<context>
    <name>CommandsCard</name>
    <message>
        <source>In other programs</source>
        <translation>In anderen Programmen</translation>
    </message>
    <message>
        <source>Export the model</source>
        <translation>Modell exportieren</translation>
    </message>
    <message>
        <source>In a terminal, the first command exports the newest model as a GGUF file, which works for Llama, Mistral and Qwen models. The second line runs it in llama.cpp, the third in Ollama.</source>
        <translation>In einem Terminal exportiert der erste Befehl das neueste Modell als GGUF-Datei; das geht mit Modellen wie Llama, Mistral und Qwen. Die zweite Zeile startet es in llama.cpp, die dritte in Ollama.</translation>
    </message>
</context>
<context>
    <name>CompetitionChoice</name>
    <message>
        <source>Way to the result</source>
        <translation>Weg zum Ergebnis</translation>
    </message>
    <message numerus="yes">
        <source>%n entrant(s)</source>
        <translation>
            <numerusform>%n Teilnehmer</numerusform>
            <numerusform>%n Teilnehmer</numerusform>
        </translation>
    </message>
    <message>
        <source>{time} {goal}</source>
        <translation>{time} {goal}</translation>
    </message>
    <message>
        <source>First place: {names}</source>
        <translation>Erster Platz: {names}</translation>
    </message>
</context>
<context>
    <name>CompetitionFigures</name>
    <message>
        <source>Your points</source>
        <translation>Deine Punkte</translation>
    </message>
    <message>
        <source>Entrants</source>
        <translation>Teilnehmer</translation>
    </message>
    <message>
        <source>Texts</source>
        <translation>Texte</translation>
    </message>
    <message>
        <source>Evaluators</source>
        <translation>Bewerter</translation>
    </message>
    <message>
        <source>{points} points in the runs of its entrants</source>
        <translation>{points} Punkte in den Läufen der Teilnehmer</translation>
    </message>
    <message>
        <source>{drawn} of {texts}</source>
        <translation>{drawn} von {texts}</translation>
    </message>
</context>
<context>
    <name>CompetitionNotifier</name>
    <message numerus="yes">
        <source>This computer scores %n model(s) when it may lend.</source>
        <translation>
            <numerusform>Dieser Computer bewertet %n Modell, sobald er verleihen darf.</numerusform>
            <numerusform>Dieser Computer bewertet %n Modelle, sobald er verleihen darf.</numerusform>
        </translation>
    </message>
    <message>
        <source>You were drawn to judge {name}</source>
        <translation>Du wurdest in die Jury gelost: {name}</translation>
    </message>
    <message>
        <source>You have judged {name}</source>
        <translation>Du hast {name} bewertet</translation>
    </message>
    <message>
        <source>All your scores are in the log. See how the entrants are doing.</source>
        <translation>Alle deine Bewertungen stehen im Protokoll. Sieh nach, wie die Teilnehmer liegen.</translation>
    </message>
    <message>
        <source>{sides} compete until {time}. See the rules, and join one of them.</source>
        <translation>{sides} treten bis {time} gegeneinander an. Sieh dir die Regeln an und schließe dich einem von ihnen an.</translation>
    </message>
    <message>
        <source>{name} has begun</source>
        <translation>{name} hat begonnen</translation>
    </message>
    <message>
        <source>{name}: {time} until the deadline</source>
        <translation>{name}: noch {time} bis zum Abgabeschluss</translation>
    </message>
    <message>
        <source>Nothing submitted after it counts. See how the entrants are doing.</source>
        <translation>Danach zählt nichts mehr. Sieh nach, wie die Teilnehmer liegen.</translation>
    </message>
    <message>
        <source>{name} is decided</source>
        <translation>{name} ist entschieden</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>Trainingsläufe</translation>
    </message>
    <message numerus="yes">
        <source>{name} and %n other(s)</source>
        <translation>
            <numerusform>{name} und %n weiterer</numerusform>
            <numerusform>{name} und %n weitere</numerusform>
        </translation>
    </message>
    <message>
        <source>{names} and {last}</source>
        <translation>{names} und {last}</translation>
    </message>
    <message>
        <source>It ended without a ranking. See the reason and the scores.</source>
        <translation>Ohne Rangliste beendet. Sieh dir den Grund und die Bewertungen an.</translation>
    </message>
    <message>
        <source>First: {names}, with {score} bits per byte of text (perplexity {perplexity} per byte).</source>
        <translation>Erster Platz: {names} mit {score} Bits pro Byte Text (Perplexität {perplexity} pro Byte).</translation>
    </message>
</context>
<context>
    <name>CompetitionSummaryCard</name>
    <message>
        <source>Open the ledger's page</source>
        <translation>Seite des Registers öffnen</translation>
    </message>
</context>
<context>
    <name>ConnectControl</name>
    <message>
        <source>Link…</source>
        <translation>Verknüpfen …</translation>
    </message>
    <message>
        <source>Linked</source>
        <translation>Verknüpft</translation>
    </message>
    <message>
        <source>Invited</source>
        <translation>Eingeladen</translation>
    </message>
</context>
<context>
    <name>ConnectDialog</name>
    <message>
        <source>Link an account</source>
        <translation>Konto verknüpfen</translation>
    </message>
    <message>
        <source>Some runs ask for it. The public log then shows that a person is behind your key, and which keys are theirs, but not who it is.</source>
        <translation>Manche Läufe verlangen das. Das öffentliche Protokoll zeigt dann, dass hinter deinem Schlüssel ein Mensch steht und welche Schlüssel ihm gehören, aber nicht, wer es ist.</translation>
    </message>
    <message>
        <source>Get a code</source>
        <translation>Code anfordern</translation>
    </message>
    <message>
        <source>Address of the connector</source>
        <translation>Adresse des Verknüpfungsdienstes</translation>
    </message>
    <message>
        <source>Provider, if it has several</source>
        <translation>Anbieter, falls er mehrere hat</translation>
    </message>
    <message>
        <source>The organisers of the network name connectors that they trust.</source>
        <translation>Die Organisatoren des Netzwerks nennen Verknüpfungsdienste, denen sie vertrauen.</translation>
    </message>
    <message>
        <source>Code</source>
        <translation>Code</translation>
    </message>
    <message>
        <source>Open the page</source>
        <translation>Seite öffnen</translation>
    </message>
    <message>
        <source>Never share this code, and never enter one that somebody else gave you.</source>
        <translation>Gib diesen Code nie weiter, und gib nie einen ein, den du von jemand anderem hast.</translation>
    </message>
    <message>
        <source>Enter this code</source>
        <translation>Gib diesen Code ein</translation>
    </message>
    <message>
        <source>At {url}, signed in with your account there.</source>
        <translation>Unter {url}, angemeldet mit deinem Konto dort.</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>The code was not used in time. Open this dialog again.</source>
        <translation>Der Code wurde nicht rechtzeitig benutzt. Öffne dieses Fenster noch einmal.</translation>
    </message>
</context>
<context>
    <name>ConsentCard</name>
    <message>
        <source>{traffic} GB of traffic a month</source>
        <translation>{traffic} GB Datenverkehr im Monat</translation>
    </message>
    <message>
        <source>I lend this computer to Tequio as chosen here: it may use the graphics card, the processor, up to {disk} GB of disk, {traffic}, and the power that takes. I am allowed to decide this for this computer.</source>
        <translation>Ich verleihe diesen Computer an Tequio wie hier gewählt: Es darf die Grafikkarte, den Prozessor, bis zu {disk} GB Speicherplatz, {traffic} und den dafür nötigen Strom nutzen. Ich darf das für diesen Computer entscheiden.</translation>
    </message>
    <message>
        <source>traffic without a limit</source>
        <translation>unbegrenzt Datenverkehr</translation>
    </message>
    <message>
        <source>I agree</source>
        <translation>Ich stimme zu</translation>
    </message>
    <message>
        <source>You can pause, change or stop at any time.</source>
        <translation>Du kannst jederzeit pausieren, etwas ändern oder aufhören.</translation>
    </message>
</context>
<context>
    <name>Conversation</name>
    <message>
        <source>The worker sent an invalid message ({problem}).</source>
        <translation>Der Hintergrunddienst hat eine ungültige Nachricht gesendet ({problem}).</translation>
    </message>
    <message>
        <source>The worker is still being started.</source>
        <translation>Der Hintergrunddienst startet noch.</translation>
    </message>
    <message>
        <source>The worker has not answered in time.</source>
        <translation>Der Hintergrunddienst hat nicht rechtzeitig geantwortet.</translation>
    </message>
    <message>
        <source>The worker has not answered in time. It may still carry out the request.</source>
        <translation>Der Hintergrunddienst hat nicht rechtzeitig geantwortet. Er kann die Anfrage noch ausführen.</translation>
    </message>
    <message>
        <source>The worker does not answer any more.</source>
        <translation>Der Hintergrunddienst antwortet nicht mehr.</translation>
    </message>
</context>
<context>
    <name>CopyLine</name>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Copy: {name}</source>
        <translation>Kopieren: {name}</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Kopiert</translation>
    </message>
</context>
<context>
    <name>CostCard</name>
    <message>
        <source>Hours per day</source>
        <translation>Stunden pro Tag</translation>
    </message>
    <message numerus="yes">
        <source>%n hour(s)</source>
        <translation>
            <numerusform>%n Stunde</numerusform>
            <numerusform>%n Stunden</numerusform>
        </translation>
    </message>
    <message>
        <source>Price per kWh</source>
        <translation>Preis pro kWh</translation>
    </message>
    <message>
        <source>not entered</source>
        <translation>nicht angegeben</translation>
    </message>
    <message>
        <source>What it costs in power</source>
        <translation>Was es an Strom kostet</translation>
    </message>
    <message>
        <source>while it trains</source>
        <translation>beim Trainieren</translation>
    </message>
    <message>
        <source>{energy} kWh</source>
        <translation>{energy} kWh</translation>
    </message>
    <message>
        <source>per month</source>
        <translation>pro Monat</translation>
    </message>
    <message>
        <source>Checking this computer. Until then, the range covers most graphics cards.</source>
        <translation>Dieser Computer wird geprüft. Der Bereich gilt für die meisten Grafikkarten.</translation>
    </message>
    <message>
        <source>{device}: no graphics card was found. The range covers most processors.</source>
        <translation>{device}: Keine Grafikkarte gefunden. Der Bereich gilt für Prozessoren.</translation>
    </message>
    <message>
        <source>{device}: from 60% of its power limit to all of it.</source>
        <translation>{device}: von 60 % des Leistungslimits bis zum vollen Limit.</translation>
    </message>
    <message>
        <source>{device} does not report its limit. The range covers most cards.</source>
        <translation>{device} nennt kein Leistungslimit. Der Bereich gilt für die meisten Karten.</translation>
    </message>
    <message>
        <source>For this device only. If your PC would otherwise be asleep, add 40 to 90 W.</source>
        <translation>Nur für dieses Gerät. Wäre dein PC sonst im Standby, rechne 40 bis 90 W dazu.</translation>
    </message>
    <message>
        <source>This is a rough household price: enter yours.</source>
        <translation>Das ist ein ungefährer Haushaltspreis: Gib deinen ein.</translation>
    </message>
</context>
<context>
    <name>DaysCard</name>
    <message>
        <source>Points per day</source>
        <translation>Punkte pro Tag</translation>
    </message>
    <message>
        <source>30 days</source>
        <translation>30 Tage</translation>
    </message>
    <message>
        <source>A round trains for about {time} and is checked after that.</source>
        <translation>Eine Runde trainiert etwa {time} und wird danach geprüft.</translation>
    </message>
    <message>
        <source>{total} points in {days} days; most on {day}: {peak}</source>
        <translation>{total} Punkte in {days} Tagen; die meisten am {day}: {peak}</translation>
    </message>
    <message>
        <source>Your verified points for each day will appear here after your first round.</source>
        <translation>Ab deiner ersten Runde stehen hier die verifizierten Punkte jedes Tages.</translation>
    </message>
</context>
<context>
    <name>DetailsButton</name>
    <message>
        <source>Details</source>
        <translation>Details</translation>
    </message>
</context>
<context>
    <name>DetailsDialog</name>
    <message>
        <source>Details</source>
        <translation>Details</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
</context>
<context>
    <name>DeviceCard</name>
    <message>
        <source>Lend {device}</source>
        <translation>{device} verleihen</translation>
    </message>
    <message>
        <source>Role</source>
        <translation>Rolle</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>Automatisch</translation>
    </message>
    <message>
        <source>Trainer</source>
        <translation>Trainer</translation>
    </message>
    <message>
        <source>Witness</source>
        <translation>Zeuge</translation>
    </message>
    <message>
        <source>Trainers train the model; witnesses check their work. Automatic does both. Default: automatic.</source>
        <translation>Trainer trainieren das Modell, Zeugen prüfen ihre Arbeit. „Automatisch“ macht beides. Standard: automatisch.</translation>
    </message>
    <message>
        <source>While I use the computer</source>
        <translation>Auch während ich den Computer benutze</translation>
    </message>
    <message>
        <source>Lends this card also while you use the computer or play on another one. Stops when another program uses it. Default: off.</source>
        <translation>Verleiht diese Karte auch, während du den Computer benutzt oder auf einer anderen spielst. Hört auf, sobald ein anderes Programm sie nutzt. Standard: aus.</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>Lauf</translation>
    </message>
    <message>
        <source>The run that this device trains. Two devices of one computer never train the same run. Default: automatic.</source>
        <translation>Der Lauf, den dieses Gerät trainiert. Zwei Geräte eines Computers trainieren nie denselben Lauf. Standard: automatisch.</translation>
    </message>
    <message>
        <source>Processor</source>
        <translation>Prozessor</translation>
    </message>
    <message>
        <source>Not known yet</source>
        <translation>Noch unbekannt</translation>
    </message>
    <message>
        <source>Not readable now</source>
        <translation>Derzeit nicht lesbar</translation>
    </message>
    <message>
        <source>No longer open</source>
        <translation>Nicht mehr offen</translation>
    </message>
    <message numerus="yes">
        <source>%n core(s)</source>
        <translation>
            <numerusform>%n Kern</numerusform>
            <numerusform>%n Kerne</numerusform>
        </translation>
    </message>
    <message>
        <source>{memory} of memory</source>
        <translation>{memory} Speicher</translation>
    </message>
    <message>
        <source>driver {version}</source>
        <translation>Treiber {version}</translation>
    </message>
    <message>
        <source>{run}: round {round} of {rounds}</source>
        <translation>{run}: Runde {round} von {rounds}</translation>
    </message>
    <message>
        <source>Computing</source>
        <translation>Rechnet</translation>
    </message>
    <message>
        <source>Computing, {share} of the time</source>
        <translation>Rechnet {share} der Zeit</translation>
    </message>
    <message>
        <source>Between rounds</source>
        <translation>Zwischen zwei Runden</translation>
    </message>
    <message>
        <source>Starting</source>
        <translation>Startet</translation>
    </message>
    <message>
        <source>Stopping</source>
        <translation>Hält an</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>Fehlgeschlagen</translation>
    </message>
    <message>
        <source>Ready</source>
        <translation>Bereit</translation>
    </message>
    <message>
        <source>Not lent</source>
        <translation>Nicht verliehen</translation>
    </message>
    <message>
        <source>Stops lending now</source>
        <translation>Beendet das Verleihen sofort</translation>
    </message>
</context>
<context>
    <name>DeviceLimits</name>
    <message>
        <source>Share of the time</source>
        <translation>Zeitanteil</translation>
    </message>
    <message>
        <source>How much of the time this device works.</source>
        <translation>Wie viel der Zeit dieses Gerät arbeitet.</translation>
    </message>
    <message>
        <source>Usual</source>
        <translation>Üblich</translation>
    </message>
    <message>
        <source>{memory}, automatic</source>
        <translation>{memory}, automatisch</translation>
    </message>
    <message>
        <source>No goal</source>
        <translation>Kein Ziel</translation>
    </message>
    <message>
        <source>{threads}, automatic</source>
        <translation>{threads}, automatisch</translation>
    </message>
    <message>
        <source>Left to the desktop: 2 GB at least, unless you choose more here.</source>
        <translation>Bleibt dem Desktop: mindestens 2 GB, wenn du hier nicht mehr wählst.</translation>
    </message>
    <message>
        <source>{free} This card has {total}.</source>
        <translation>{free} Diese Karte hat {total}.</translation>
    </message>
    <message>
        <source>VRAM</source>
        <translation>VRAM</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>Automatisch</translation>
    </message>
    <message>
        <source>Power goal</source>
        <translation>Zielleistung</translation>
    </message>
    <message>
        <source>Kept by resting between steps; the card's own limit is {most}.</source>
        <translation>Wird durch Pausen zwischen den Schritten eingehalten; das Limit der Karte ist {most}.</translation>
    </message>
    <message>
        <source>Slows down to stay below this; stops at 5 °C above it.</source>
        <translation>Wird langsamer, um darunter zu bleiben, und hält 5 °C darüber an.</translation>
    </message>
    <message>
        <source>Temperature goal</source>
        <translation>Zieltemperatur</translation>
    </message>
    <message>
        <source>Of {cores} cores; one stays free unless you choose otherwise.</source>
        <translation>Von {cores} Kernen; einer bleibt frei, wenn du nichts anderes wählst.</translation>
    </message>
    <message>
        <source>Threads</source>
        <translation>Threads</translation>
    </message>
</context>
<context>
    <name>EntryPane</name>
    <message>
        <source>How</source>
        <translation>Wie</translation>
    </message>
    <message>
        <source>Join with a link</source>
        <translation>Mit einem Link beitreten</translation>
    </message>
    <message>
        <source>Found a team</source>
        <translation>Ein Team gründen</translation>
    </message>
    <message>
        <source>Join link or code of a team</source>
        <translation>Beitrittslink oder Code eines Teams</translation>
    </message>
    <message>
        <source>Name of the new team</source>
        <translation>Name des neuen Teams</translation>
    </message>
    <message>
        <source>2 to 32 letters of one script and digits. The name is public and stays. You can found one team every 30 days.</source>
        <translation>2 bis 32 Buchstaben einer Schrift und Ziffern. Der Name ist öffentlich und bleibt. Du kannst alle 30 Tage ein Team gründen.</translation>
    </message>
    <message>
        <source>Ask the owner of the team for its link or code.</source>
        <translation>Frag die Leitung des Teams nach dem Link oder Code.</translation>
    </message>
</context>
<context>
    <name>ErrorReportDialog</name>
    <message>
        <source>Tequio – a fault</source>
        <translation>Tequio – Fehler</translation>
    </message>
    <message>
        <source>Report</source>
        <translation>Bericht</translation>
    </message>
    <message>
        <source>Copy report</source>
        <translation>Bericht kopieren</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>Weiter</translation>
    </message>
    <message numerus="yes">
        <source>%n more fault(s) since</source>
        <translation>
            <numerusform>Seitdem %n weiterer Fehler</numerusform>
            <numerusform>Seitdem %n weitere Fehler</numerusform>
        </translation>
    </message>
    <message>
        <source>Something went wrong in Tequio's window</source>
        <translation>Im Fenster von Tequio ist ein Fehler aufgetreten</translation>
    </message>
    <message>
        <source>Lending is not affected: it runs in a program of its own. Nothing was sent to anybody. If you want to report this, copy the text below; keys and names of your folders were taken out of it.</source>
        <translation>Das Verleihen ist nicht betroffen: Es läuft in einem eigenen Programm. Es wurde nichts gesendet. Wenn du den Fehler melden willst, kopiere den Text unten; Schlüssel und Ordnernamen wurden daraus entfernt.</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Kopiert</translation>
    </message>
</context>
<context>
    <name>EventsRows</name>
    <message>
        <source>Good: {words}</source>
        <translation>Gut: {words}</translation>
    </message>
    <message>
        <source>Attention: {words}</source>
        <translation>Achtung: {words}</translation>
    </message>
    <message>
        <source>Problem: {words}</source>
        <translation>Problem: {words}</translation>
    </message>
</context>
<context>
    <name>ExclusiveList</name>
    <message>
        <source>Add a program</source>
        <translation>Programm hinzufügen</translation>
    </message>
    <message>
        <source>No programs yet.</source>
        <translation>Noch keine Programme.</translation>
    </message>
    <message>
        <source>{program} was removed from the list.</source>
        <translation>{program} wurde aus der Liste entfernt.</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>Remove {program}</source>
        <translation>{program} entfernen</translation>
    </message>
</context>
<context>
    <name>FirstRun</name>
    <message>
        <source>Back</source>
        <translation>Zurück</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>Nicht jetzt</translation>
    </message>
    <message>
        <source>Step {number} of {steps}</source>
        <translation>Schritt {number} von {steps}</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>Weiter</translation>
    </message>
    <message>
        <source>You are invited to “{network}”. Step 3 makes your key; then you can join.</source>
        <translation>Du bist zu „{network}“ eingeladen. In Schritt 3 entsteht dein Schlüssel; dann kannst du beitreten.</translation>
    </message>
    <message>
        <source>You are invited to “{network}”.</source>
        <translation>Du bist zu „{network}“ eingeladen.</translation>
    </message>
    <message>
        <source>Join</source>
        <translation>Beitreten</translation>
    </message>
</context>
<context>
    <name>FolderLine</name>
    <message>
        <source>Folder</source>
        <translation>Ordner</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Open the folder</source>
        <translation>Ordner öffnen</translation>
    </message>
</context>
<context>
    <name>HardwarePage</name>
    <message>
        <source>Choose what Tequio may use. Each device that is lent trains a run of its own. Changes apply immediately.</source>
        <translation>Wähle, was Tequio nutzen darf. Jedes verliehene Gerät trainiert einen eigenen Lauf. Änderungen gelten sofort.</translation>
    </message>
    <message>
        <source>Hardware</source>
        <translation>Hardware</translation>
    </message>
    <message>
        <source>The worker is being started; its devices will appear here.</source>
        <translation>Der Hintergrunddienst startet; danach stehen hier seine Geräte.</translation>
    </message>
    <message>
        <source>The hardware is being checked; its devices will appear here.</source>
        <translation>Die Hardware wird geprüft; danach stehen hier ihre Geräte.</translation>
    </message>
    <message>
        <source>The hardware probe is not responding, so the state of the graphics cards is unknown. Nothing is lent until it responds; Tequio restarts it automatically.</source>
        <translation>Die Hardwareüberwachung reagiert nicht, daher ist der Zustand der Grafikkarten unbekannt. Bis sie antwortet, wird nichts verliehen; Tequio startet sie automatisch neu.</translation>
    </message>
    <message>
        <source>No graphics card was found that can train. The CPU is lent instead. It's slower, but still earns points.</source>
        <translation>Es wurde keine Grafikkarte gefunden, die trainieren kann. Stattdessen wird der Prozessor verliehen. Er ist langsamer, bringt aber auch Punkte.</translation>
    </message>
    <message>
        <source>No graphics card was found that can train. The CPU can be lent instead.</source>
        <translation>Es wurde keine Grafikkarte gefunden, die trainieren kann. Stattdessen kannst du den Prozessor verleihen.</translation>
    </message>
    <message>
        <source>Lend the processor</source>
        <translation>Prozessor verleihen</translation>
    </message>
    <message>
        <source>{device} is no longer lent.</source>
        <translation>{device} wird nicht mehr verliehen.</translation>
    </message>
</context>
<context>
    <name>HealthView</name>
    <message>
        <source>Your session</source>
        <translation>Deine Sitzung</translation>
    </message>
    <message>
        <source>Nothing is known about your session yet.</source>
        <translation>Über deine Sitzung ist noch nichts bekannt.</translation>
    </message>
    <message>
        <source>The hardware is being checked…</source>
        <translation>Die Hardware wird geprüft …</translation>
    </message>
    <message>
        <source>The hardware probe is not responding. The worker restarts it automatically.</source>
        <translation>Die Hardwareüberwachung reagiert nicht. Der Hintergrunddienst startet sie automatisch neu.</translation>
    </message>
    <message>
        <source>This computer</source>
        <translation>Dieser Computer</translation>
    </message>
    <message numerus="yes">
        <source>All %n check(s) are working.</source>
        <translation>
            <numerusform>Die %n Prüfung funktioniert.</numerusform>
            <numerusform>Alle %n Prüfungen funktionieren.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n check(s) aren't working.</source>
        <translation>
            <numerusform>%n Prüfung funktioniert nicht.</numerusform>
            <numerusform>%n Prüfungen funktionieren nicht.</numerusform>
        </translation>
    </message>
    <message>
        <source>If Tequio isn't sure, it stays paused.</source>
        <translation>Wenn Tequio nicht sicher ist, bleibt es pausiert.</translation>
    </message>
    <message>
        <source>Some checks have not responded yet.</source>
        <translation>Einige Prüfungen haben noch nicht geantwortet.</translation>
    </message>
</context>
<context>
    <name>HelpDialog</name>
    <message>
        <source>Keyboard and help</source>
        <translation>Tastatur und Hilfe</translation>
    </message>
    <message>
        <source>Read this page again</source>
        <translation>Diese Seite neu laden</translation>
    </message>
    <message>
        <source>Go to the next control, and use it</source>
        <translation>Zum nächsten Bedienelement springen und es benutzen</translation>
    </message>
    <message>
        <source>Search the settings</source>
        <translation>Einstellungen durchsuchen</translation>
    </message>
    <message>
        <source>Close the window; Tequio goes on in the tray</source>
        <translation>Das Fenster schließen; Tequio läuft im Infobereich weiter</translation>
    </message>
    <message>
        <source>Quit, and stop lending</source>
        <translation>Beenden und nicht mehr verleihen</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Every command explains itself: tequio --help. Version {version}.</source>
        <translation>Jeder Befehl erklärt sich selbst: tequio --help. Version {version}.</translation>
    </message>
</context>
<context>
    <name>HomeHeader</name>
    <message>
        <source>Snooze</source>
        <translation>Auszeit</translation>
    </message>
    <message>
        <source>Finish round, then stop</source>
        <translation>Nach der Runde aufhören</translation>
    </message>
    <message>
        <source>Ends the round under way, so that none of its work is lost.</source>
        <translation>Schließt die laufende Runde ab, damit keine Arbeit verloren geht.</translation>
    </message>
    <message>
        <source>Go on after this round</source>
        <translation>Nach der Runde weitermachen</translation>
    </message>
    <message>
        <source>Start now anyway</source>
        <translation>Trotzdem jetzt starten</translation>
    </message>
    <message>
        <source>Starts although a rule says to wait.</source>
        <translation>Startet, obwohl eine Regel dagegen spricht.</translation>
    </message>
    <message>
        <source>Change this rule</source>
        <translation>Diese Regel ändern</translation>
    </message>
    <message>
        <source>Nothing is lent until this is solved.</source>
        <translation>Bis das gelöst ist, wird nichts verliehen.</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pausieren</translation>
    </message>
    <message>
        <source>Stops at once and gives the device back.</source>
        <translation>Hält sofort an und gibt das Gerät zurück.</translation>
    </message>
    <message>
        <source>Set up</source>
        <translation>Einrichten</translation>
    </message>
    <message>
        <source>Resume now</source>
        <translation>Jetzt fortsetzen</translation>
    </message>
    <message>
        <source>Contribute</source>
        <translation>Mitmachen</translation>
    </message>
</context>
<context>
    <name>InvitationDialog</name>
    <message>
        <source>Join</source>
        <translation>Beitreten</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>Nicht jetzt</translation>
    </message>
    <message>
        <source>An invitation</source>
        <translation>Eine Einladung</translation>
    </message>
    <message>
        <source>Checking this invitation with {ledger}…</source>
        <translation>Diese Einladung wird mit {ledger} geprüft …</translation>
    </message>
    <message>
        <source>Join the run “{run}”?</source>
        <translation>Dem Lauf „{run}“ beitreten?</translation>
    </message>
    <message>
        <source>Join the network “{network}”?</source>
        <translation>Dem Netzwerk „{network}“ beitreten?</translation>
    </message>
    <message>
        <source>The organisers of the network “{network}” invite you (entry {index} of the log at {ledger}).</source>
        <translation>Die Organisatoren des Netzwerks „{network}“ laden dich ein (Protokolleintrag {index} bei {ledger}).</translation>
    </message>
    <message>
        <source>Make my key</source>
        <translation>Schlüssel erstellen</translation>
    </message>
    <message>
        <source>Your key comes first: it is made in the first steps. Then this question comes again.</source>
        <translation>Zuerst kommt dein Schlüssel: Er entsteht in den ersten Schritten. Danach erscheint diese Frage wieder.</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>This invitation cannot be used</source>
        <translation>Diese Einladung kann nicht benutzt werden</translation>
    </message>
    <message>
        <source>Nothing was changed.</source>
        <translation>Es wurde nichts geändert.</translation>
    </message>
    <message>
        <source>Joining. This may take a minute.</source>
        <translation>Beitritt läuft. Das kann eine Minute dauern.</translation>
    </message>
    <message>
        <source>Your key is in this network already and stays as it is; the invitation is not used up.</source>
        <translation>Dein Schlüssel ist schon in diesem Netzwerk und bleibt, wie er ist; die Einladung wird nicht verbraucht.</translation>
    </message>
    <message numerus="yes">
        <source>%n use(s) left, valid until {until}.</source>
        <translation>
            <numerusform>Noch %n Mal nutzbar, gültig bis {until}.</numerusform>
            <numerusform>Noch %n Mal nutzbar, gültig bis {until}.</numerusform>
        </translation>
    </message>
    <message>
        <source>Everybody can read in the log that this invitation let your key in; the organisers can take it back.</source>
        <translation>Im Protokoll kann jeder lesen, dass dein Schlüssel durch diese Einladung aufgenommen wurde; die Organisatoren können sie zurücknehmen.</translation>
    </message>
    <message>
        <source>You will lend to this ledger instead of {old}. The settings change it back.</source>
        <translation>Du verleihst dann an dieses Register statt an {old}. In den Einstellungen lässt sich das zurückstellen.</translation>
    </message>
    <message>
        <source>What you have chosen about when and how much to lend holds as before.</source>
        <translation>Was du zum Wann und Wieviel des Verleihens gewählt hast, gilt weiter.</translation>
    </message>
    <message>
        <source>Nothing is lent before you have gone through the first steps.</source>
        <translation>Bis du die ersten Schritte abgeschlossen hast, wird nichts verliehen.</translation>
    </message>
    <message>
        <source>You choose the run, among all of this network.</source>
        <translation>Den Lauf wählst du unter allen dieses Netzwerks.</translation>
    </message>
    <message numerus="yes">
        <source>%n computers are in it now</source>
        <translation>
            <numerusform>%n Computer ist gerade dabei</numerusform>
            <numerusform>%n Computer sind gerade dabei</numerusform>
        </translation>
    </message>
    <message>
        <source>{tokens} tokens were trained so far</source>
        <translation>{tokens} Token wurden bisher trainiert</translation>
    </message>
    <message>
        <source>{members}; {tokens}</source>
        <translation>{members}; {tokens}</translation>
    </message>
    <message>
        <source>The server at {ledger} does not answer as a ledger ({detail}). Try the link again later, or ask its sender.</source>
        <translation>Der Server bei {ledger} antwortet nicht wie ein Register ({detail}). Versuche den Link später noch einmal oder frage, wer ihn dir geschickt hat.</translation>
    </message>
    <message>
        <source>{ledger} belongs to another network than this link. Ask its sender for a new link.</source>
        <translation>{ledger} gehört zu einem anderen Netzwerk als dieser Link. Bitte den Absender um einen neuen Link.</translation>
    </message>
    <message>
        <source>The network does not know this invitation yet. A second organiser may still have to sign it. Try the link again later, or ask its sender.</source>
        <translation>Das Netzwerk kennt diese Einladung noch nicht. Vielleicht muss ein zweiter Organisator sie noch unterschreiben. Versuche den Link später noch einmal oder frage den Absender.</translation>
    </message>
    <message>
        <source>The organisers have ended this invitation. Ask for another.</source>
        <translation>Die Organisatoren haben diese Einladung beendet. Bitte um eine neue.</translation>
    </message>
    <message>
        <source>This invitation has expired. Ask for another.</source>
        <translation>Diese Einladung ist abgelaufen. Bitte um eine neue.</translation>
    </message>
    <message>
        <source>This invitation has been used up. Ask for another.</source>
        <translation>Diese Einladung ist aufgebraucht. Bitte um eine neue.</translation>
    </message>
    <message>
        <source>The run “{detail}” has ended.</source>
        <translation>Der Lauf „{detail}“ ist beendet.</translation>
    </message>
    <message>
        <source>This app's folder belongs to another network, with its key and points. Join on the command line, in a folder of its own: tequio join LINK --dir FOLDER</source>
        <translation>Der Ordner dieser App gehört zu einem anderen Netzwerk, mit dessen Schlüssel und Punkten. Tritt über die Befehlszeile in einem eigenen Ordner bei: tequio join LINK --dir FOLDER</translation>
    </message>
    <message>
        <source>This invitation link is incomplete ({detail}). Open it again from where you got it.</source>
        <translation>Dieser Einladungslink ist unvollständig ({detail}). Öffne ihn noch einmal dort, wo du ihn bekommen hast.</translation>
    </message>
    <message>
        <source>The worker here was started elsewhere. End it, then open the link again.</source>
        <translation>Der Hintergrunddienst wurde anderswo gestartet. Beende ihn und öffne dann den Link noch einmal.</translation>
    </message>
</context>
<context>
    <name>JoinNetworkDialog</name>
    <message>
        <source>This computer is in the network at {ledger} now.</source>
        <translation>Dieser Computer ist jetzt im Netzwerk bei {ledger}.</translation>
    </message>
    <message>
        <source>A link names the network at this address. Nothing is lent by joining: you decide later when this computer works for it.</source>
        <translation>Ein Link nennt das Netzwerk mit dieser Adresse. Mit dem Beitritt wird noch nichts verliehen: Wann dieser Computer dafür arbeitet, entscheidest du danach.</translation>
    </message>
    <message>
        <source>Choose the network that this computer should work for.</source>
        <translation>Wähle das Netzwerk, für das dieser Computer arbeiten soll.</translation>
    </message>
    <message>
        <source>Join this network?</source>
        <translation>Diesem Netzwerk beitreten?</translation>
    </message>
    <message>
        <source>Join a network</source>
        <translation>Netzwerk beitreten</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
</context>
<context>
    <name>JoinedCard</name>
    <message>
        <source>Since you joined</source>
        <translation>Seit du dabei bist</translation>
    </message>
    <message>
        <source>None of your work has been accepted yet. Once it is, you can see here how the model has changed since.</source>
        <translation>Von deiner Arbeit wurde noch nichts angenommen. Sobald das geschieht, siehst du hier, wie sich das Modell seitdem verändert hat.</translation>
    </message>
    <message>
        <source>Your work has counted since round {round}. The model has not been measured since.</source>
        <translation>Deine Arbeit zählt seit Runde {round}. Seitdem wurde das Modell noch nicht gemessen.</translation>
    </message>
    <message>
        <source>Your work has counted since round {round}. The next measure will show how the model changes.</source>
        <translation>Deine Arbeit zählt seit Runde {round}. Die nächste Messung zeigt, wie sich das Modell verändert.</translation>
    </message>
    <message>
        <source>Since your work first counted, in round {round}, the model has improved from {then} to {now} bits per byte on unseen text: {percent} fewer. Its perplexity went from {before} to {after}.</source>
        <translation>Seit deine Arbeit in Runde {round} zum ersten Mal zählte, hat sich das Modell bei ungesehenem Text von {then} auf {now} Bits pro Byte verbessert: {percent} weniger. Seine Perplexität ging von {before} auf {after}.</translation>
    </message>
    <message>
        <source>Since your work first counted, in round {round}, the model has gone from {then} to {now} bits per byte on unseen text: {percent} more. Its perplexity went from {before} to {after}. Lower is better; both go up and down from round to round.</source>
        <translation>Seit deine Arbeit in Runde {round} zum ersten Mal zählte, ist das Modell bei ungesehenem Text von {then} auf {now} Bits pro Byte gestiegen: {percent} mehr. Seine Perplexität ging von {before} auf {after}. Weniger ist besser; von Runde zu Runde schwankt beides.</translation>
    </message>
</context>
<context>
    <name>JudgingCard</name>
    <message>
        <source>Judging</source>
        <translation>Jury</translation>
    </message>
    <message>
        <source>Offer to judge</source>
        <translation>Für die Jury anbieten</translation>
    </message>
    <message>
        <source>Resume judging</source>
        <translation>Bewerten fortsetzen</translation>
    </message>
    <message>
        <source>Stop judging</source>
        <translation>Nicht mehr bewerten</translation>
    </message>
</context>
<context>
    <name>KeyAccount</name>
    <message>
        <source>The worker does not answer</source>
        <translation>Der Hintergrunddienst antwortet nicht</translation>
    </message>
</context>
<context>
    <name>KeyCard</name>
    <message>
        <source>24 words…</source>
        <translation>24 Wörter …</translation>
    </message>
    <message>
        <source>Save a file…</source>
        <translation>Datei speichern …</translation>
    </message>
    <message>
        <source>Change how it's stored…</source>
        <translation>Aufbewahrung ändern …</translation>
    </message>
    <message>
        <source>Restore another…</source>
        <translation>Anderen wiederherstellen …</translation>
    </message>
    <message>
        <source>A sealed key</source>
        <translation>Ein versiegelter Schlüssel</translation>
    </message>
    <message>
        <source>No key</source>
        <translation>Kein Schlüssel</translation>
    </message>
    <message>
        <source>You don't have a key yet.</source>
        <translation>Du hast noch keinen Schlüssel.</translation>
    </message>
    <message>
        <source>Kept in this system's keyring: the file alone is worth nothing.</source>
        <translation>Liegt im Schlüsselbund dieses Systems: Die Datei allein ist wertlos.</translation>
    </message>
    <message>
        <source>Kept under your passphrase, which is asked at each start.</source>
        <translation>Liegt unter deiner Passphrase, die bei jedem Start abgefragt wird.</translation>
    </message>
    <message>
        <source>Stored unencrypted, in a file only your user account can read.</source>
        <translation>Unverschlüsselt gespeichert, in einer Datei, die nur dein Benutzerkonto lesen kann.</translation>
    </message>
    <message>
        <source>No backup yet</source>
        <translation>Noch keine Sicherung</translation>
    </message>
    <message>
        <source>Back it up now, or later: until then Home reminds you. If this disk fails without a backup, your points cannot be claimed.</source>
        <translation>Sichere ihn jetzt oder später: Bis dahin erinnert dich die Startseite. Fällt dieses Laufwerk ohne Sicherung aus, sind deine Punkte verloren.</translation>
    </message>
    <message>
        <source>Backed up as words, {day}</source>
        <translation>Als Wörter gesichert, {day}</translation>
    </message>
    <message>
        <source>Backed up as a file, {day}</source>
        <translation>Als Datei gesichert, {day}</translation>
    </message>
    <message>
        <source>You can make as many backups as you like; all remain valid.</source>
        <translation>Du kannst beliebig viele Sicherungen anlegen; alle bleiben gültig.</translation>
    </message>
</context>
<context>
    <name>KeyDialog</name>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
</context>
<context>
    <name>KeyStep</name>
    <message>
        <source>Your key</source>
        <translation>Dein Schlüssel</translation>
    </message>
    <message>
        <source>Your key is your account: no e-mail and no sign-up. It signs your work, and the points belong to it.</source>
        <translation>Dein Schlüssel ist dein Konto: keine E-Mail, keine Anmeldung. Er unterschreibt deine Arbeit, und ihm gehören die Punkte.</translation>
    </message>
</context>
<context>
    <name>LeaveDialog</name>
    <message>
        <source>Nothing is lent. What you chose is kept, and “Set up” on Home returns to this step.</source>
        <translation>Es wird nichts verliehen. Deine Auswahl bleibt erhalten, und „Einrichten“ auf der Startseite führt genau hierher zurück.</translation>
    </message>
    <message>
        <source>What you chose here is dropped, and lending stays as it was.</source>
        <translation>Was du hier ausgewählt hast, wird verworfen, und am Verleihen ändert sich nichts.</translation>
    </message>
    <message>
        <source>Leave this for now?</source>
        <translation>Fürs Erste aufhören?</translation>
    </message>
    <message>
        <source>Leave for now</source>
        <translation>Später weitermachen</translation>
    </message>
    <message>
        <source>Go on here</source>
        <translation>Hier weitermachen</translation>
    </message>
</context>
<context>
    <name>LedgerCheck</name>
    <message>
        <source>{address} is not a valid ledger address: it must begin with http:// or https:// and name a computer, for example https://ledger.example.</source>
        <translation>{address} ist keine gültige Registeradresse: Sie muss mit http:// oder https:// beginnen und einen Computer nennen, zum Beispiel https://ledger.example.</translation>
    </message>
    <message>
        <source>Nothing answers at {address}. Check the address and your connection.</source>
        <translation>Unter {address} antwortet nichts. Prüfe die Adresse und deine Verbindung.</translation>
    </message>
    <message>
        <source>{address} is not a ledger. Check the address with its sender.</source>
        <translation>{address} ist kein Register. Frage den Absender nach der richtigen Adresse.</translation>
    </message>
</context>
<context>
    <name>LedgerField</name>
    <message>
        <source>Ledger's address</source>
        <translation>Adresse des Registers</translation>
    </message>
    <message>
        <source>Join a network…</source>
        <translation>Netzwerk beitreten …</translation>
    </message>
    <message>
        <source>Connecting…</source>
        <translation>Verbindung wird aufgebaut …</translation>
    </message>
    <message>
        <source>No network was chosen yet.</source>
        <translation>Es wurde noch kein Netzwerk gewählt.</translation>
    </message>
    <message>
        <source>Not answering now. Tequio keeps trying.</source>
        <translation>Antwortet gerade nicht. Tequio versucht es weiter.</translation>
    </message>
    <message>
        <source>Connected.</source>
        <translation>Verbunden.</translation>
    </message>
</context>
<context>
    <name>ListPage</name>
    <message>
        <source>Refresh</source>
        <translation>Aktualisieren</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Erneut versuchen</translation>
    </message>
    <message>
        <source>This list is from {time}. {problem}; Tequio keeps trying.</source>
        <translation>Diese Liste ist von {time}. {problem}; Tequio versucht es weiter.</translation>
    </message>
</context>
<context>
    <name>ListenField</name>
    <message>
        <source>Listen address</source>
        <translation>Eigene Netzwerkadresse</translation>
    </message>
    <message>
        <source>{address} is not a valid listen address: write /ip4/0.0.0.0/tcp/4001, or leave it empty.</source>
        <translation>{address} ist keine gültige Adresse: Schreib /ip4/0.0.0.0/tcp/4001, oder lass das Feld leer.</translation>
    </message>
</context>
<context>
    <name>LoginSwitch</name>
    <message>
        <source>Start at login</source>
        <translation>Beim Anmelden starten</translation>
    </message>
    <message>
        <source>The system refused the change: {why}. Add Tequio to its startup programs by hand.</source>
        <translation>Das System hat die Änderung abgelehnt: {why}. Füge Tequio von Hand zu den Autostart-Programmen hinzu.</translation>
    </message>
    <message>
        <source>The system accepted the change but does not report it. Check its own list of startup programs.</source>
        <translation>Das System hat die Änderung angenommen, zeigt sie aber nicht an. Sieh in seiner eigenen Liste der Autostart-Programme nach.</translation>
    </message>
</context>
<context>
    <name>LostKeyControl</name>
    <message>
        <source>Use a recovery key…</source>
        <translation>Wiederherstellungsschlüssel benutzen …</translation>
    </message>
</context>
<context>
    <name>LostKeyDialog</name>
    <message>
        <source>A lost or stolen computer</source>
        <translation>Ein verlorener oder gestohlener Computer</translation>
    </message>
    <message>
        <source>The recovery key stops that computer's key permanently: a thief can no longer use it. If the key had no recovery key, a backup of the key itself does the same.</source>
        <translation>Der Wiederherstellungsschlüssel sperrt den Schlüssel jenes Computers für immer: Ein Dieb kann ihn nicht mehr benutzen. Gab es keinen, leistet eine Sicherung des Schlüssels dasselbe.</translation>
    </message>
    <message>
        <source>What to do</source>
        <translation>Was soll geschehen</translation>
    </message>
    <message>
        <source>Only stop its key</source>
        <translation>Nur seinen Schlüssel sperren</translation>
    </message>
    <message>
        <source>Move its points here</source>
        <translation>Seine Punkte hierher übertragen</translation>
    </message>
    <message>
        <source>Key of the lost computer</source>
        <translation>Schlüssel des verlorenen Computers</translation>
    </message>
    <message>
        <source>Its 43 characters, or the address of its page</source>
        <translation>Seine 43 Zeichen oder die Adresse seiner Seite</translation>
    </message>
    <message>
        <source>In the full ranking, its name opens that page.</source>
        <translation>In der ganzen Rangliste öffnet sein Name diese Seite.</translation>
    </message>
    <message>
        <source>Passphrase of the file</source>
        <translation>Passphrase der Datei</translation>
    </message>
    <message>
        <source>I know that this key can never be used again</source>
        <translation>Ich weiß, dass dieser Schlüssel nie wieder benutzt werden kann</translation>
    </message>
    <message>
        <source>Its recovery key</source>
        <translation>Sein Wiederherstellungsschlüssel</translation>
    </message>
    <message>
        <source>Move the points</source>
        <translation>Punkte übertragen</translation>
    </message>
    <message>
        <source>Stop the key</source>
        <translation>Schlüssel sperren</translation>
    </message>
    <message>
        <source>A new key on this computer gets the points, standing, name and team of the lost one. The key that this computer has now is kept aside, with its own points.</source>
        <translation>Ein neuer Schlüssel auf diesem Computer bekommt Punkte, Status, Namen und Team des verlorenen. Der jetzige Schlüssel dieses Computers wird mit seinen eigenen Punkten beiseitegelegt.</translation>
    </message>
    <message>
        <source>It earns nothing more. You can still move its points later.</source>
        <translation>Er verdient nichts mehr. Seine Punkte kannst du auch später noch übertragen.</translation>
    </message>
</context>
<context>
    <name>ModelPage</name>
    <message>
        <source>The model that this computer helps to train.</source>
        <translation>Das Modell, das dieser Computer mittrainiert.</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>No run yet</source>
        <translation>Noch kein Lauf</translation>
    </message>
    <message>
        <source>Once this computer is in a run, you can see here what its model learns.</source>
        <translation>Sobald dieser Computer in einem Lauf ist, siehst du hier, was dessen Modell lernt.</translation>
    </message>
    <message>
        <source>Open Runs</source>
        <translation>Trainingsläufe öffnen</translation>
    </message>
    <message>
        <source>{run}: the model that this computer helps to train.</source>
        <translation>{run}: das Modell, das dieser Computer mittrainiert.</translation>
    </message>
    <message>
        <source>Couldn't read the measures of this model. Tequio keeps trying.</source>
        <translation>Die Messwerte dieses Modells konnten nicht gelesen werden. Tequio versucht es weiter.</translation>
    </message>
    <message>
        <source>The model got worse: after round {number}, it guesses unseen text less well than after round {best}. Several members measured it and agree. The organisers can pause the run and go back to an earlier model.</source>
        <translation>Das Modell ist schlechter geworden: Nach Runde {number} errät es ungesehenen Text weniger gut als nach Runde {best}. Mehrere Mitglieder haben es gemessen und sind sich einig. Die Organisatoren können den Lauf pausieren und zu einem früheren Modell zurückkehren.</translation>
    </message>
    <message>
        <source>This model has not been measured yet. Some members measure it every few rounds if the run's rules say so, and the results appear here.</source>
        <translation>Dieses Modell wurde noch nicht gemessen. Wenn die Regeln des Laufs es vorsehen, messen einige Mitglieder es alle paar Runden, und die Ergebnisse erscheinen hier.</translation>
    </message>
    <message>
        <source>Asking the network how well the model does.</source>
        <translation>Das Netzwerk wird gefragt, wie gut das Modell ist.</translation>
    </message>
    <message>
        <source>{problem}. Tequio will keep trying.</source>
        <translation>{problem}. Tequio versucht es weiter.</translation>
    </message>
    <message>
        <source>Couldn't load the model</source>
        <translation>Das Modell konnte nicht geladen werden</translation>
    </message>
    <message>
        <source>Looking for the model</source>
        <translation>Das Modell wird gesucht</translation>
    </message>
    <message>
        <source>Asking the network which run this computer is in.</source>
        <translation>Das Netzwerk wird gefragt, in welchem Lauf dieser Computer ist.</translation>
    </message>
</context>
<context>
    <name>NameControl</name>
    <message>
        <source>Choose…</source>
        <translation>Auswählen …</translation>
    </message>
    <message>
        <source>Change…</source>
        <translation>Ändern …</translation>
    </message>
    <message>
        <source>You can choose a name once a round has accepted your work.</source>
        <translation>Einen Namen kannst du wählen, sobald eine Runde deine Arbeit angenommen hat.</translation>
    </message>
</context>
<context>
    <name>NameDialog</name>
    <message>
        <source>Public name</source>
        <translation>Öffentlicher Name</translation>
    </message>
    <message>
        <source>The name is unique in this network. You can change it once every 30 days, and nobody else can take your former name for that long.</source>
        <translation>Der Name ist in diesem Netzwerk einmalig. Du kannst ihn alle 30 Tage ändern, und so lange kann niemand sonst deinen früheren Namen nehmen.</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>No name</source>
        <translation>Kein Name</translation>
    </message>
    <message>
        <source>Names are public and permanent: old ones stay in the log.</source>
        <translation>Namen sind öffentlich und dauerhaft: Alte bleiben im Protokoll.</translation>
    </message>
    <message>
        <source>2 to 32 letters of one script and digits, with single spaces, hyphens or underscores between them.</source>
        <translation>2 bis 32 Buchstaben einer Schrift und Ziffern, dazwischen einzelne Leerzeichen, Binde- oder Unterstriche.</translation>
    </message>
    <message>
        <source>This is not a possible name: use 2 to 32 letters of one script and digits, with single spaces, hyphens or underscores between them.</source>
        <translation>Dieser Name ist nicht möglich: Nimm 2 bis 32 Buchstaben einer Schrift und Ziffern, dazwischen einzelne Leerzeichen, Binde- oder Unterstriche.</translation>
    </message>
    <message>
        <source>Remove the name</source>
        <translation>Namen entfernen</translation>
    </message>
    <message>
        <source>Use this name</source>
        <translation>Diesen Namen verwenden</translation>
    </message>
</context>
<context>
    <name>NetworkChooser</name>
    <message>
        <source>Address or invitation link</source>
        <translation>Adresse oder Einladungslink</translation>
    </message>
    <message>
        <source>Join</source>
        <translation>Beitreten</translation>
    </message>
    <message>
        <source>Or paste an address</source>
        <translation>Oder füge eine Adresse ein</translation>
    </message>
    <message>
        <source>Paste an address</source>
        <translation>Füge eine Adresse ein</translation>
    </message>
    <message>
        <source>Organisers publish the address of their network's ledger, or send you an invitation link. Nothing is lent by joining.</source>
        <translation>Organisatoren veröffentlichen die Adresse ihres Netzwerk-Registers oder schicken dir einen Einladungslink. Mit dem Beitritt wird noch nichts verliehen.</translation>
    </message>
    <message>
        <source>This link is not complete. Copy all of it, from {scheme}:// to its end.</source>
        <translation>Dieser Link ist nicht vollständig. Kopiere ihn ganz, von {scheme}:// bis zum Ende.</translation>
    </message>
    <message>
        <source>Looking for a ledger at {address}…</source>
        <translation>Unter {address} wird ein Register gesucht …</translation>
    </message>
    <message>
        <source>“{name}” is not the network that your key and points belong to. To join it as well, start the app with another folder: tequio app --dir {folder}</source>
        <translation>„{name}“ ist nicht das Netzwerk, zu dem dein Schlüssel und deine Punkte gehören. Um ihm auch beizutreten, starte die App mit einem anderen Ordner: tequio app --dir {folder}</translation>
    </message>
    <message>
        <source>Its log must be signed by independent witnesses, too.</source>
        <translation>Das Protokoll muss auch von unabhängigen Zeugen signiert sein.</translation>
    </message>
</context>
<context>
    <name>NetworkPanel</name>
    <message>
        <source>First, choose a network</source>
        <translation>Wähle zuerst ein Netzwerk</translation>
    </message>
    <message>
        <source>Another network…</source>
        <translation>Anderes Netzwerk …</translation>
    </message>
    <message>
        <source>Network: {ledger}</source>
        <translation>Netzwerk: {ledger}</translation>
    </message>
</context>
<context>
    <name>NewKeyCard</name>
    <message>
        <source>Make my key</source>
        <translation>Schlüssel erstellen</translation>
    </message>
    <message>
        <source>I have one already…</source>
        <translation>Ich habe schon einen …</translation>
    </message>
    <message>
        <source>Where should it be stored?</source>
        <translation>Wo soll er gespeichert werden?</translation>
    </message>
</context>
<context>
    <name>NewPassphrase</name>
    <message>
        <source>Passphrase</source>
        <translation>Passphrase</translation>
    </message>
    <message>
        <source>Repeat the passphrase</source>
        <translation>Dieselbe Passphrase noch einmal</translation>
    </message>
    <message>
        <source>Show what I type</source>
        <translation>Eingabe anzeigen</translation>
    </message>
    <message>
        <source>The two are not the same.</source>
        <translation>Die beiden stimmen nicht überein.</translation>
    </message>
    <message>
        <source>At least {least} characters.</source>
        <translation>Mindestens {least} Zeichen.</translation>
    </message>
    <message>
        <source>Longer is safer: four or five unrelated words do well.</source>
        <translation>Länger ist sicherer: Vier oder fünf Wörter ohne Zusammenhang sind gut.</translation>
    </message>
    <message>
        <source>Nobody can reset it: without it the key cannot be opened.</source>
        <translation>Niemand kann sie zurücksetzen: Ohne sie lässt sich der Schlüssel nicht öffnen.</translation>
    </message>
</context>
<context>
    <name>Notifier</name>
    <message>
        <source>Tequio goes on in the background</source>
        <translation>Tequio läuft im Hintergrund weiter</translation>
    </message>
    <message>
        <source>Its tray icon shows what it is doing, and opens this window again.</source>
        <translation>Das Symbol in der Leiste zeigt, was es tut, und öffnet dieses Fenster wieder.</translation>
    </message>
    <message>
        <source>{points} points so far. The log's proof was checked on this computer.</source>
        <translation>Bisher {points} Punkte. Dieser Computer hat den Beweis des Protokolls geprüft.</translation>
    </message>
    <message>
        <source>Your first points are verified</source>
        <translation>Deine ersten Punkte sind verifiziert</translation>
    </message>
    <message>
        <source>You are #{rank} of {ranked}</source>
        <translation>Du bist auf Platz {rank} von {ranked}</translation>
    </message>
    <message numerus="yes">
        <source>%n place(s) up since you were last told.</source>
        <translation>
            <numerusform>%n Platz nach oben seit der letzten Meldung.</numerusform>
            <numerusform>%n Plätze nach oben seit der letzten Meldung.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n place(s) down since you were last told.</source>
        <translation>
            <numerusform>%n Platz nach unten seit der letzten Meldung.</numerusform>
            <numerusform>%n Plätze nach unten seit der letzten Meldung.</numerusform>
        </translation>
    </message>
    <message>
        <source>The same place as last time.</source>
        <translation>Derselbe Platz wie beim letzten Mal.</translation>
    </message>
    <message>
        <source>From the network's organisers</source>
        <translation>Von den Organisatoren des Netzwerks</translation>
    </message>
    <message>
        <source>Tequio needs your attention</source>
        <translation>Tequio braucht deine Aufmerksamkeit</translation>
    </message>
    <message>
        <source>Open Tequio</source>
        <translation>Tequio öffnen</translation>
    </message>
</context>
<context>
    <name>OrganiserNotices</name>
    <message>
        <source>From the organisers of this network: {text}</source>
        <translation>Von den Organisatoren dieses Netzwerks: {text}</translation>
    </message>
    <message>
        <source>{run} is paused by its organisers: {text}</source>
        <translation>{run} wurde von den Organisatoren pausiert: {text}</translation>
    </message>
    <message>
        <source>From the organisers of {run}: {text}</source>
        <translation>Von den Organisatoren von {run}: {text}</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>Ausblenden</translation>
    </message>
</context>
<context>
    <name>OwnTeamPane</name>
    <message>
        <source>Goal</source>
        <translation>Ziel</translation>
    </message>
    <message>
        <source>Members of the team</source>
        <translation>Mitglieder des Teams</translation>
    </message>
    <message>
        <source>Join link</source>
        <translation>Beitrittslink</translation>
    </message>
    <message>
        <source>Code</source>
        <translation>Code</translation>
    </message>
    <message>
        <source>Make a new link</source>
        <translation>Neuen Link erstellen</translation>
    </message>
    <message>
        <source>Close the link</source>
        <translation>Link schließen</translation>
    </message>
    <message>
        <source>Points of the goal</source>
        <translation>Punkte des Ziels</translation>
    </message>
    <message>
        <source>No goal</source>
        <translation>Kein Ziel</translation>
    </message>
    <message>
        <source>Last day of the goal</source>
        <translation>Letzter Tag des Ziels</translation>
    </message>
    <message>
        <source>Set the goal</source>
        <translation>Ziel festlegen</translation>
    </message>
    <message>
        <source>New name of the team</source>
        <translation>Neuer Name des Teams</translation>
    </message>
    <message>
        <source>Use this name</source>
        <translation>Diesen Namen verwenden</translation>
    </message>
    <message>
        <source>Remove…</source>
        <translation>Entfernen …</translation>
    </message>
    <message>
        <source>Hand over…</source>
        <translation>Übergeben …</translation>
    </message>
    <message>
        <source>Open its page</source>
        <translation>Seite des Teams öffnen</translation>
    </message>
    <message>
        <source>Leave the team…</source>
        <translation>Team verlassen …</translation>
    </message>
    <message>
        <source>The organisers of the network withdrew the team's name. Choose another one.</source>
        <translation>Die Organisatoren des Netzwerks haben den Namen des Teams zurückgezogen. Wähle einen anderen.</translation>
    </message>
    <message>
        <source>The same as a code, for people in this network:</source>
        <translation>Dasselbe als Code, für Leute in diesem Netzwerk:</translation>
    </message>
    <message>
        <source>Goal: {reached} of {goal} points by {day}</source>
        <translation>Ziel: {reached} von {goal} Punkten bis zum {day}</translation>
    </message>
    <message>
        <source>Goal reached: {reached} of {goal} points by {day}</source>
        <translation>Ziel erreicht: {reached} von {goal} Punkten bis zum {day}</translation>
    </message>
    <message>
        <source>Everyone who has it can join until {day}. A new link ends this one.</source>
        <translation>Wer ihn hat, kann bis zum {day} beitreten. Ein neuer Link beendet diesen.</translation>
    </message>
    <message>
        <source>The present link was made with another key or ended.</source>
        <translation>Der jetzige Link wurde mit einem anderen Schlüssel erstellt oder ist abgelaufen.</translation>
    </message>
    <message>
        <source>Nobody can join at the moment.</source>
        <translation>Zurzeit kann niemand beitreten.</translation>
    </message>
</context>
<context>
    <name>PeriodicQuestion</name>
    <message>
        <source>The worker does not answer</source>
        <translation>Der Hintergrunddienst antwortet nicht</translation>
    </message>
</context>
<context>
    <name>PointsExport</name>
    <message>
        <source>the worker does not answer</source>
        <translation>der Hintergrunddienst antwortet nicht</translation>
    </message>
    <message>
        <source>{file} was not written: {why}. Choose another place, or try again.</source>
        <translation>{file} wurde nicht geschrieben: {why}. Wähle einen anderen Ort oder versuche es noch einmal.</translation>
    </message>
</context>
<context>
    <name>PointsPage</name>
    <message>
        <source>Share…</source>
        <translation>Teilen…</translation>
    </message>
    <message>
        <source>Export CSV</source>
        <translation>Als CSV exportieren</translation>
    </message>
    <message>
        <source>Points</source>
        <translation>Punkte</translation>
    </message>
    <message>
        <source>Counted only when this computer has checked the proof in the ledger's log.</source>
        <translation>Zählen erst, wenn dieser Computer den Beweis im Protokoll des Registers geprüft hat.</translation>
    </message>
    <message>
        <source>Export all rounds</source>
        <translation>Alle Runden exportieren</translation>
    </message>
    <message>
        <source>Comma-separated values (*.csv)</source>
        <translation>Kommagetrennte Werte (*.csv)</translation>
    </message>
    <message>
        <source>Processor</source>
        <translation>Prozessor</translation>
    </message>
    <message>
        <source>Your key has no public page yet: it gets one when it joins the network.</source>
        <translation>Dein Schlüssel hat noch keine öffentliche Seite: Er bekommt eine, wenn er dem Netzwerk beitritt.</translation>
    </message>
    <message>
        <source>The ledger says that you have {points} more points. This computer has not read and checked their log entries yet, so they are not counted here. It does so automatically.</source>
        <translation>Laut Register hast du {points} Punkte mehr. Die zugehörigen Einträge im Protokoll wurden hier noch nicht gelesen und geprüft, deshalb zählen sie noch nicht mit. Das geschieht von selbst.</translation>
    </message>
    <message numerus="yes">
        <source>%Ln round(s) written to {file}</source>
        <translation>
            <numerusform>%Ln Runde in {file} geschrieben</numerusform>
            <numerusform>%Ln Runden in {file} geschrieben</numerusform>
        </translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
</context>
<context>
    <name>PointsRange</name>
    <message>
        <source>Verified points over time</source>
        <translation>Verifizierte Punkte</translation>
    </message>
    <message>
        <source>Time span</source>
        <translation>Zeitraum</translation>
    </message>
    <message>
        <source>24 h</source>
        <translation>24 h</translation>
    </message>
    <message>
        <source>7 days</source>
        <translation>7 Tage</translation>
    </message>
    <message>
        <source>30 days</source>
        <translation>30 Tage</translation>
    </message>
    <message>
        <source>All</source>
        <translation>Alle</translation>
    </message>
    <message>
        <source>No points were verified in this time.</source>
        <translation>In dieser Zeit wurden keine Punkte verifiziert.</translation>
    </message>
    <message>
        <source>{total} points in this time</source>
        <translation>{total} Punkte in dieser Zeit</translation>
    </message>
    <message>
        <source>{summary}; most at {when}: {points}</source>
        <translation>{summary}; Höchstwert {when}: {points}</translation>
    </message>
</context>
<context>
    <name>PointsSums</name>
    <message>
        <source>Verified</source>
        <translation>Verifiziert</translation>
    </message>
    <message>
        <source>Vesting</source>
        <translation>Vorläufig</translation>
    </message>
    <message>
        <source>Pending</source>
        <translation>Ausstehend</translation>
    </message>
    <message>
        <source>Rejected today</source>
        <translation>Heute abgelehnt</translation>
    </message>
    <message>
        <source>{points} today</source>
        <translation>{points} heute</translation>
    </message>
    <message>
        <source>Rounds that are not proven yet</source>
        <translation>Noch ohne Beweis</translation>
    </message>
    <message>
        <source>Nothing pending</source>
        <translation>Nichts ist offen</translation>
    </message>
    <message>
        <source>Rounds that gave nothing</source>
        <translation>Runden, die nichts brachten</translation>
    </message>
    <message>
        <source>None today</source>
        <translation>Heute keine</translation>
    </message>
    <message>
        <source>{points} were forfeited</source>
        <translation>{points} sind verfallen</translation>
    </message>
    <message>
        <source>Final after a few more rounds</source>
        <translation>Endgültig nach einigen Runden</translation>
    </message>
    <message>
        <source>All points are final</source>
        <translation>Alle Punkte sind endgültig</translation>
    </message>
</context>
<context>
    <name>PresetPicker</name>
    <message>
        <source>Preset</source>
        <translation>Voreinstellung</translation>
    </message>
    <message>
        <source>Gentle</source>
        <translation>Sanft</translation>
    </message>
    <message>
        <source>Starts after 15 min without input. Pauses for films, and when other programs use a quarter of the CPU.</source>
        <translation>Startet nach 15 min ohne Eingabe. Pausiert bei Filmen und wenn andere Programme ein Viertel der CPU nutzen.</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>Ausgewogen</translation>
    </message>
    <message>
        <source>Starts after 5 min without input. Continues during films; other programs may use half of the CPU.</source>
        <translation>Startet nach 5 min ohne Eingabe. Läuft bei Filmen weiter; andere Programme dürfen die halbe CPU nutzen.</translation>
    </message>
    <message>
        <source>Max</source>
        <translation>Maximal</translation>
    </message>
    <message>
        <source>Starts after 1 min without input, and runs gently while you use the computer. Other programs may use three quarters of the CPU.</source>
        <translation>Startet nach 1 min ohne Eingabe und läuft sanft mit, während du den Computer benutzt. Andere Programme dürfen drei Viertel der CPU nutzen.</translation>
    </message>
    <message>
        <source>You have changed settings that presets cover. A preset changes only the settings named on its card.</source>
        <translation>Du hast Einstellungen geändert, die zu den Voreinstellungen gehören. Eine Voreinstellung ändert nur, was auf ihrer Karte steht.</translation>
    </message>
    <message>
        <source>Use Max</source>
        <translation>Maximal wählen</translation>
    </message>
    <message>
        <source>Preset: {preset}</source>
        <translation>Voreinstellung: {preset}</translation>
    </message>
</context>
<context>
    <name>ProgramPicker</name>
    <message>
        <source>Choose a program</source>
        <translation>Programm auswählen</translation>
    </message>
    <message>
        <source>Name of the program</source>
        <translation>Name des Programms</translation>
    </message>
    <message>
        <source>Search, or type a name such as blender</source>
        <translation>Suche oder gib einen Namen ein, etwa blender</translation>
    </message>
    <message>
        <source>Programs running now</source>
        <translation>Gerade laufende Programme</translation>
    </message>
    <message>
        <source>Looking for programs…</source>
        <translation>Programme werden gesucht …</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>Hinzufügen</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>No running program has this name. Add uses it as you typed it.</source>
        <translation>Kein laufendes Programm heißt so. „Hinzufügen“ übernimmt den Namen, wie du ihn geschrieben hast.</translation>
    </message>
    <message>
        <source>Nothing is lent while it runs. Pick a running program, or type its name.</source>
        <translation>Solange es läuft, wird nichts verliehen. Wähle ein laufendes Programm oder gib seinen Namen ein.</translation>
    </message>
</context>
<context>
    <name>ProtectionDialog</name>
    <message>
        <source>How your key is kept</source>
        <translation>Aufbewahrung deines Schlüssels</translation>
    </message>
    <message>
        <source>The key stays the same. Backups that you have made remain valid.</source>
        <translation>Der Schlüssel bleibt derselbe. Deine bisherigen Sicherungen bleiben gültig.</translation>
    </message>
    <message>
        <source>Store it this way</source>
        <translation>So aufbewahren</translation>
    </message>
</context>
<context>
    <name>ProtectionPanel</name>
    <message>
        <source>In this system's keyring</source>
        <translation>Im Schlüsselbund dieses Systems</translation>
    </message>
    <message>
        <source>Unlocked automatically while you are logged in. The file alone is worth nothing.</source>
        <translation>Wird automatisch entsperrt, solange du angemeldet bist. Die Datei allein ist wertlos.</translation>
    </message>
    <message>
        <source>Under a passphrase</source>
        <translation>Unter einer Passphrase</translation>
    </message>
    <message>
        <source>Tequio asks for it at each start, so it can't start lending automatically at login.</source>
        <translation>Tequio fragt bei jedem Start danach und kann deshalb beim Anmelden nicht von selbst verleihen.</translation>
    </message>
    <message>
        <source>In an unencrypted file</source>
        <translation>In einer unverschlüsselten Datei</translation>
    </message>
    <message>
        <source>Only your user account can read it. For servers and computers that nobody else uses.</source>
        <translation>Nur dein Benutzerkonto kann sie lesen. Für Server und Computer, die sonst niemand benutzt.</translation>
    </message>
    <message>
        <source>Not encrypted: any program that you run can read the key and take your points, and so can anyone with a copy of this disk or of your files.</source>
        <translation>Nicht verschlüsselt: Jedes Programm, das du ausführst, kann den Schlüssel lesen und deine Punkte nehmen, ebenso jeder mit einer Kopie dieses Laufwerks oder deiner Dateien.</translation>
    </message>
</context>
<context>
    <name>PublishedRow</name>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Round {number}, on the Hugging Face Hub</source>
        <translation>Runde {number}, auf dem Hugging Face Hub</translation>
    </message>
    <message>
        <source>Open round {number} of {repo} in the browser</source>
        <translation>Runde {number} von {repo} im Browser öffnen</translation>
    </message>
</context>
<context>
    <name>RaceChart</name>
    <message>
        <source>Round {number}</source>
        <translation>Runde {number}</translation>
    </message>
</context>
<context>
    <name>RankingCard</name>
    <message>
        <source>Around you</source>
        <translation>Um dich herum</translation>
    </message>
    <message>
        <source>Ranking around you</source>
        <translation>Rangliste um dich herum</translation>
    </message>
    <message>
        <source>Full ranking</source>
        <translation>Ganze Rangliste</translation>
    </message>
    <message>
        <source>Not ranked yet</source>
        <translation>Noch nicht in der Rangliste</translation>
    </message>
    <message>
        <source>After your first verified round you see who has about as many points.</source>
        <translation>Nach deiner ersten verifizierten Runde siehst du, wer etwa gleich viele Punkte hat.</translation>
    </message>
    <message>
        <source>No ranking now</source>
        <translation>Gerade keine Rangliste</translation>
    </message>
    <message>
        <source>The network does not answer. Tequio keeps trying.</source>
        <translation>Das Netzwerk antwortet nicht. Tequio versucht es weiter.</translation>
    </message>
</context>
<context>
    <name>RankingRows</name>
    <message>
        <source>Volunteer</source>
        <translation>Freiwilliger</translation>
    </message>
    <message>
        <source>Points</source>
        <translation>Punkte</translation>
    </message>
    <message>
        <source>{name} (you)</source>
        <translation>{name} (du)</translation>
    </message>
    <message>
        <source>You</source>
        <translation>Du</translation>
    </message>
</context>
<context>
    <name>ReachabilityChip</name>
    <message>
        <source>Yes</source>
        <translation>Ja</translation>
    </message>
    <message>
        <source>No</source>
        <translation>Nein</translation>
    </message>
    <message>
        <source>Not known yet</source>
        <translation>Noch unbekannt</translation>
    </message>
</context>
<context>
    <name>Readings</name>
    <message>
        <source>Load</source>
        <translation>Auslastung</translation>
    </message>
    <message>
        <source>Other programs</source>
        <translation>Andere Programme</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>VRAM</source>
        <translation>VRAM</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>Temperatur</translation>
    </message>
    <message>
        <source>Power</source>
        <translation>Leistung</translation>
    </message>
</context>
<context>
    <name>ReadyStep</name>
    <message>
        <source>Ready</source>
        <translation>Bereit</translation>
    </message>
    <message>
        <source>Your choices apply once you press the button below.</source>
        <translation>Deine Auswahl gilt, sobald du auf die Schaltfläche unten klickst.</translation>
    </message>
    <message>
        <source>Contribute</source>
        <translation>Mitmachen</translation>
    </message>
    <message>
        <source>What happens next</source>
        <translation>Wie es weitergeht</translation>
    </message>
    <message>
        <source>Closing the window hides it; the tray icon shows the state, and pauses everything with two clicks.</source>
        <translation>Wenn du das Fenster schließt, verschwindet es nur; das Symbol in der Leiste zeigt den Zustand und pausiert alles mit zwei Klicks.</translation>
    </message>
    <message>
        <source>Join and download</source>
        <translation>Beitreten und herunterladen</translation>
    </message>
    <message>
        <source>Begin when you are away</source>
        <translation>Anfangen, wenn du weg bist</translation>
    </message>
    <message>
        <source>First points</source>
        <translation>Erste Punkte</translation>
    </message>
    <message>
        <source>They are pending when your first round ends, and verified when the ledger has closed it and your computer has checked the proof, usually one round later.</source>
        <translation>Am Ende deiner ersten Runde stehen sie aus; verifiziert sind sie, wenn das Register die Runde geschlossen und dein Computer den Beweis geprüft hat, meist eine Runde später.</translation>
    </message>
    <message>
        <source>Gentle</source>
        <translation>Sanft</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>Ausgewogen</translation>
    </message>
    <message>
        <source>Max</source>
        <translation>Maximal</translation>
    </message>
    <message>
        <source>Starts at login</source>
        <translation>Startet beim Anmelden</translation>
    </message>
    <message>
        <source>Starts by hand</source>
        <translation>Startet von Hand</translation>
    </message>
    <message>
        <source>Run: as chosen</source>
        <translation>Lauf: wie gewählt</translation>
    </message>
    <message>
        <source>Run: automatic</source>
        <translation>Lauf: automatisch</translation>
    </message>
    <message>
        <source>No network yet</source>
        <translation>Noch kein Netzwerk</translation>
    </message>
    <message>
        <source>Key not backed up</source>
        <translation>Schlüssel nicht gesichert</translation>
    </message>
    <message>
        <source>Tequio joins the run that you chose, and downloads its model and first data once.</source>
        <translation>Der Computer tritt dem Lauf bei, den du gewählt hast; dessen Modell und erste Daten werden einmal heruntergeladen.</translation>
    </message>
    <message>
        <source>Tequio joins the run that fits best, and downloads its model and first data once.</source>
        <translation>Der Computer tritt dem Lauf bei, der am besten passt; dessen Modell und erste Daten werden einmal heruntergeladen.</translation>
    </message>
    <message>
        <source>{run}: {data} to download once, about {time} at 50 Mbit/s.</source>
        <translation>{run}: Einmalig werden {data} heruntergeladen, etwa {time} bei 50 Mbit/s.</translation>
    </message>
    <message>
        <source>First it downloads what training needs, once: {size}, {disk} on the disk.</source>
        <translation>Davor kommt einmalig, was das Training braucht: {size}, {disk} auf dem Laufwerk.</translation>
    </message>
    <message numerus="yes">
        <source>%n minute(s) after your last input. A key or the mouse stops it.</source>
        <translation>
            <numerusform>%n Minute nach deiner letzten Eingabe. Taste oder Maus halten es an.</numerusform>
            <numerusform>%n Minuten nach deiner letzten Eingabe. Taste oder Maus halten es an.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Immediately at {share} of the time, and fully %n minute(s) after your last input.</source>
        <translation>
            <numerusform>Sofort mit {share} der Zeit, und %n Minute nach deiner letzten Eingabe ganz.</numerusform>
            <numerusform>Sofort mit {share} der Zeit, und %n Minuten nach deiner letzten Eingabe ganz.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RecoveryControl</name>
    <message>
        <source>Make one…</source>
        <translation>Erstellen …</translation>
    </message>
    <message>
        <source>Not known yet</source>
        <translation>Noch unbekannt</translation>
    </message>
    <message>
        <source>Set</source>
        <translation>Eingerichtet</translation>
    </message>
    <message>
        <source>Change it…</source>
        <translation>Ändern …</translation>
    </message>
    <message>
        <source>None yet</source>
        <translation>Noch keiner</translation>
    </message>
</context>
<context>
    <name>RecoveryDialog</name>
    <message>
        <source>Make a recovery key</source>
        <translation>Wiederherstellungsschlüssel erstellen</translation>
    </message>
    <message>
        <source>If this computer is stolen or breaks, the recovery key stops its key and moves your points to a new one. Keep it away from this computer.</source>
        <translation>Wird dieser Computer gestohlen oder geht er kaputt, sperrt der Wiederherstellungsschlüssel seinen Schlüssel und überträgt deine Punkte auf einen neuen. Bewahre ihn nicht auf diesem Computer auf.</translation>
    </message>
    <message>
        <source>Change the recovery key</source>
        <translation>Wiederherstellungsschlüssel ändern</translation>
    </message>
    <message>
        <source>Passphrase of the file</source>
        <translation>Passphrase der Datei</translation>
    </message>
    <message>
        <source>The present recovery key</source>
        <translation>Der jetzige Wiederherstellungsschlüssel</translation>
    </message>
    <message>
        <source>The new one</source>
        <translation>Der neue</translation>
    </message>
    <message>
        <source>Store it as</source>
        <translation>Speichern als</translation>
    </message>
    <message>
        <source>24 words</source>
        <translation>24 Wörter</translation>
    </message>
    <message>
        <source>A file</source>
        <translation>Eine Datei</translation>
    </message>
    <message>
        <source>The file is sealed under a passphrase. Put it on a USB stick or another computer.</source>
        <translation>Die Datei ist mit einer Passphrase verschlüsselt. Leg sie auf einen USB-Stick oder einen anderen Computer.</translation>
    </message>
    <message>
        <source>Save the file…</source>
        <translation>Datei speichern …</translation>
    </message>
    <message>
        <source>Show the words</source>
        <translation>Wörter anzeigen</translation>
    </message>
    <message>
        <source>I have written them down</source>
        <translation>Ich habe sie aufgeschrieben</translation>
    </message>
    <message>
        <source>Use this recovery key</source>
        <translation>Diesen Wiederherstellungsschlüssel verwenden</translation>
    </message>
    <message>
        <source>Save the recovery key</source>
        <translation>Wiederherstellungsschlüssel speichern</translation>
    </message>
</context>
<context>
    <name>ReleaseService</name>
    <message>
        <source>Try again</source>
        <translation>Erneut versuchen</translation>
    </message>
    <message>
        <source>Version {version} is ready, and starts the next time Tequio starts.</source>
        <translation>Version {version} ist bereit und startet beim nächsten Start von Tequio.</translation>
    </message>
    <message>
        <source>Restart now</source>
        <translation>Jetzt neu starten</translation>
    </message>
    <message>
        <source>Before this computer can train, it needs a download of {size}, which takes {disk} on the disk.</source>
        <translation>Bevor dieser Computer trainieren kann, muss er {size} herunterladen; das belegt {disk} auf dem Laufwerk.</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>Herunterladen</translation>
    </message>
    <message>
        <source>Testing what was downloaded…</source>
        <translation>Der Download wird getestet …</translation>
    </message>
    <message>
        <source>Downloading what training needs</source>
        <translation>Was das Training braucht, wird heruntergeladen</translation>
    </message>
    <message>
        <source>Downloading version {version}</source>
        <translation>Version {version} wird heruntergeladen</translation>
    </message>
    <message>
        <source>{what}: {done} of {total}</source>
        <translation>{what}: {done} von {total}</translation>
    </message>
    <message>
        <source>The updater stopped unexpectedly.</source>
        <translation>Das Update-Programm wurde unerwartet beendet.</translation>
    </message>
    <message>
        <source>There is no newer version of Tequio yet.</source>
        <translation>Es gibt noch keine neuere Version von Tequio.</translation>
    </message>
</context>
<context>
    <name>ReplaceControl</name>
    <message>
        <source>Replace…</source>
        <translation>Ersetzen …</translation>
    </message>
</context>
<context>
    <name>ReplaceDialog</name>
    <message>
        <source>Replace this computer's key</source>
        <translation>Schlüssel dieses Computers ersetzen</translation>
    </message>
    <message>
        <source>A new key takes over your points, standing, name and team. Do this if somebody else may have seen the key. It does not end a quarantine.</source>
        <translation>Ein neuer Schlüssel übernimmt deine Punkte, deinen Status, Namen und dein Team. Tu das, wenn jemand anderes den Schlüssel gesehen haben könnte. Eine Quarantäne endet dadurch nicht.</translation>
    </message>
    <message>
        <source>Replace the key</source>
        <translation>Schlüssel ersetzen</translation>
    </message>
    <message>
        <source>Passphrase of the file</source>
        <translation>Passphrase der Datei</translation>
    </message>
    <message>
        <source>Your recovery key</source>
        <translation>Dein Wiederherstellungsschlüssel</translation>
    </message>
    <message>
        <source>I know that the present key can never be used again</source>
        <translation>Ich weiß, dass der jetzige Schlüssel nie wieder benutzt werden kann</translation>
    </message>
    <message>
        <source>Afterwards, back up the new key: old backups become worthless.</source>
        <translation>Sichere danach den neuen Schlüssel: Alte Sicherungen werden wertlos.</translation>
    </message>
</context>
<context>
    <name>ResetButton</name>
    <message>
        <source>Reset all settings</source>
        <translation>Alle Einstellungen zurücksetzen</translation>
    </message>
    <message>
        <source>All settings have their defaults again.</source>
        <translation>Alle Einstellungen haben wieder ihre Standardwerte.</translation>
    </message>
</context>
<context>
    <name>RestoreDialog</name>
    <message>
        <source>Restore a key</source>
        <translation>Schlüssel wiederherstellen</translation>
    </message>
    <message>
        <source>With your earlier key you are the same volunteer, with the same points. Use it on one computer at a time. A key that is here now is kept aside.</source>
        <translation>Mit deinem früheren Schlüssel bist du derselbe Freiwillige mit denselben Punkten. Benutze ihn immer nur auf einem Computer. Ein Schlüssel, der jetzt hier ist, wird beiseitegelegt.</translation>
    </message>
    <message>
        <source>Restore</source>
        <translation>Wiederherstellen</translation>
    </message>
    <message>
        <source>Passphrase of the backup</source>
        <translation>Passphrase der Sicherung</translation>
    </message>
    <message>
        <source>How it is kept here</source>
        <translation>Wie er hier aufbewahrt wird</translation>
    </message>
</context>
<context>
    <name>ResultCard</name>
    <message>
        <source>Result</source>
        <translation>Ergebnis</translation>
    </message>
    <message>
        <source>bits per byte and perplexity per byte, lower is better</source>
        <translation>Bits pro Byte und Perplexität pro Byte, weniger ist besser</translation>
    </message>
    <message>
        <source>The dot is the score. If other texts of the same kind had been drawn, it would lie within the bar 95 times in 100. Entrants that cannot be told apart share a place.</source>
        <translation>Der Punkt ist die Bewertung. Wären andere Texte derselben Art gezogen worden, läge sie in 95 von 100 Fällen innerhalb des Balkens. Teilnehmer, die sich nicht unterscheiden lassen, teilen sich einen Platz.</translation>
    </message>
    <message>
        <source>Check it yourself</source>
        <translation>Selbst nachprüfen</translation>
    </message>
    <message>
        <source>The command that checks it</source>
        <translation>Der Befehl, der es nachprüft</translation>
    </message>
    <message>
        <source>Not ranked: too few of the drawn evaluators scored the entrants.</source>
        <translation>Ohne Platz: Zu wenige der ausgelosten Bewerter haben die Teilnehmer bewertet.</translation>
    </message>
</context>
<context>
    <name>ResultTable</name>
    <message>
        <source>Places</source>
        <translation>Plätze</translation>
    </message>
    <message>
        <source>{name}: not ranked</source>
        <translation>{name}: ohne Platz</translation>
    </message>
    <message>
        <source>Place {rank}, {name}: {score} bits per byte, between {low} and {high}; perplexity {perplexity} per byte</source>
        <translation>Platz {rank}, {name}: {score} Bits pro Byte, zwischen {low} und {high}; Perplexität {perplexity} pro Byte</translation>
    </message>
</context>
<context>
    <name>RoleCard</name>
    <message>
        <source>What this computer can do instead</source>
        <translation>Was dieser Computer stattdessen tun kann</translation>
    </message>
    <message>
        <source>Role</source>
        <translation>Seine Aufgabe</translation>
    </message>
    <message>
        <source>Witness (fits best)</source>
        <translation>Zeuge (passt am besten)</translation>
    </message>
    <message>
        <source>Train on the processor</source>
        <translation>Auf dem Prozessor trainieren</translation>
    </message>
    <message>
        <source>Slower than any graphics card, and for small models only. Earns a few points.</source>
        <translation>Langsamer als jede Grafikkarte und nur für kleine Modelle. Bringt einige Punkte.</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>Automatisch</translation>
    </message>
    <message>
        <source>Both: trains the model, and checks the work of others.</source>
        <translation>Beides: trainiert das Modell und prüft die Arbeit anderer.</translation>
    </message>
    <message>
        <source>Checks the work of others and signs what is correct. It trains nothing and uses little electricity.</source>
        <translation>Prüft die Arbeit anderer und unterschreibt, was stimmt. Er trainiert nichts und braucht wenig Strom.</translation>
    </message>
    <message>
        <source>Earns a small part of what training earns.</source>
        <translation>Verdient einen kleinen Teil dessen, was Training verdient.</translation>
    </message>
    <message>
        <source>All witnesses of a round share {percent} of what its trainers earn.</source>
        <translation>Alle Zeugen einer Runde teilen sich {percent} dessen, was ihre Trainer verdienen.</translation>
    </message>
</context>
<context>
    <name>RoundCard</name>
    <message>
        <source>Round</source>
        <translation>Runde</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>Lauf</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>Loss</translation>
    </message>
    <message>
        <source>Bits per byte</source>
        <translation>Bits pro Byte</translation>
    </message>
    <message>
        <source>Perplexity</source>
        <translation>Perplexität</translation>
    </message>
    <message>
        <source>The model and its data are fetched once; then the first round begins.</source>
        <translation>Modell und Daten werden einmal heruntergeladen; dann beginnt die erste Runde.</translation>
    </message>
    <message>
        <source>Once this computer has joined a run, it trains round by round.</source>
        <translation>Sobald dieser Computer einem Lauf beigetreten ist, trainiert er Runde für Runde.</translation>
    </message>
    <message>
        <source>Joining a run</source>
        <translation>Tritt einem Lauf bei</translation>
    </message>
    <message>
        <source>No round now</source>
        <translation>Gerade keine Runde</translation>
    </message>
    <message>
        <source>of round</source>
        <translation>der Runde</translation>
    </message>
    <message>
        <source>Trainer</source>
        <translation>Trainer</translation>
    </message>
    <message>
        <source>Witness</source>
        <translation>Zeuge</translation>
    </message>
    <message>
        <source>No role yet</source>
        <translation>Noch keine Rolle</translation>
    </message>
    <message>
        <source>Auditor</source>
        <translation>Nachprüfer</translation>
    </message>
    <message>
        <source>Not taking part</source>
        <translation>Nicht dabei</translation>
    </message>
    <message>
        <source>Round {number} of {rounds}</source>
        <translation>Runde {number} von {rounds}</translation>
    </message>
    <message>
        <source>Round {number}</source>
        <translation>Runde {number}</translation>
    </message>
    <message numerus="yes">
        <source>%Ln peer(s)</source>
        <translation>
            <numerusform>%Ln Peer</numerusform>
            <numerusform>%Ln Peers</numerusform>
        </translation>
    </message>
    <message>
        <source>{time} left</source>
        <translation>noch {time}</translation>
    </message>
</context>
<context>
    <name>RoundDialog</name>
    <message>
        <source>{run}, round {number}</source>
        <translation>{run}, Runde {number}</translation>
    </message>
    <message>
        <source>Shared by others</source>
        <translation>Von anderen geteilt</translation>
    </message>
    <message>
        <source>When</source>
        <translation>Wann</translation>
    </message>
    <message>
        <source>Points</source>
        <translation>Punkte</translation>
    </message>
    <message>
        <source>For training</source>
        <translation>Für Training</translation>
    </message>
    <message>
        <source>For checking others' work</source>
        <translation>Für das Prüfen der Arbeit anderer</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Gerät</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>Energy</source>
        <translation>Energie</translation>
    </message>
    <message>
        <source>Ledger</source>
        <translation>Register</translation>
    </message>
    <message>
        <source>Log entry</source>
        <translation>Protokolleintrag</translation>
    </message>
    <message>
        <source>Checkpoint, entries</source>
        <translation>Prüfpunkt, Einträge</translation>
    </message>
    <message>
        <source>Checkpoint, root</source>
        <translation>Prüfpunkt, Wurzel</translation>
    </message>
    <message>
        <source>What was checked here</source>
        <translation>Was hier geprüft wurde</translation>
    </message>
    <message>
        <source>This computer fetched the end of the round from the ledger's public log, read in it what you get, and checked that it is in the log that the ledger has signed. Nobody can change or remove it later without that showing.</source>
        <translation>Dieser Computer hat das Ende der Runde aus dem öffentlichen Protokoll des Registers geholt, darin gelesen, was du bekommst, und geprüft, dass es in dem Protokoll steht, das das Register unterschrieben hat. Niemand kann es später unbemerkt ändern oder entfernen.</translation>
    </message>
    <message>
        <source>To check the whole ledger yourself, run:</source>
        <translation>Um selbst das ganze Register zu prüfen, führe aus:</translation>
    </message>
    <message>
        <source>The command that checks it</source>
        <translation>Der Befehl, der es nachprüft</translation>
    </message>
    <message>
        <source>The round is not closed yet, or its end was not found in the ledger's signed log yet. Its points count when this computer has checked that.</source>
        <translation>Die Runde ist noch nicht geschlossen, oder ihr Ende steht noch nicht im unterschriebenen Protokoll des Registers. Ihre Punkte zählen, wenn dieser Computer das geprüft hat.</translation>
    </message>
    <message>
        <source>This round gave no points, so there is nothing to prove.</source>
        <translation>Diese Runde brachte keine Punkte, es gibt also nichts zu beweisen.</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Kopiert</translation>
    </message>
</context>
<context>
    <name>RoundsCard</name>
    <message>
        <source>Run</source>
        <translation>Lauf</translation>
    </message>
    <message>
        <source>All runs</source>
        <translation>Alle Läufe</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Gerät</translation>
    </message>
    <message>
        <source>All devices</source>
        <translation>Alle Geräte</translation>
    </message>
    <message>
        <source>Rounds</source>
        <translation>Runden</translation>
    </message>
    <message>
        <source>Looking</source>
        <translation>Wird geladen</translation>
    </message>
    <message>
        <source>Reading the rounds of this key.</source>
        <translation>Die Runden dieses Schlüssels werden gelesen.</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Erneut versuchen</translation>
    </message>
    <message>
        <source>Older rounds are read as you scroll.</source>
        <translation>Ältere Runden werden beim Scrollen geladen.</translation>
    </message>
    <message>
        <source>Couldn't load the rounds</source>
        <translation>Die Runden konnten nicht geladen werden</translation>
    </message>
    <message>
        <source>No round of that run was worked in on that device.</source>
        <translation>Auf diesem Gerät wurde an keiner Runde dieses Laufs gearbeitet.</translation>
    </message>
    <message>
        <source>No matches</source>
        <translation>Keine davon</translation>
    </message>
    <message>
        <source>Each round that this computer takes part in will appear here, with what it gave and the proof.</source>
        <translation>Hier steht später jede Runde, bei der dieser Computer mitmacht, mit ihrem Ertrag und dem Beweis.</translation>
    </message>
    <message>
        <source>No round yet</source>
        <translation>Noch keine Runde</translation>
    </message>
</context>
<context>
    <name>RoundsRows</name>
    <message>
        <source>Round</source>
        <translation>Runde</translation>
    </message>
    <message>
        <source>When</source>
        <translation>Wann</translation>
    </message>
    <message>
        <source>State</source>
        <translation>Zustand</translation>
    </message>
    <message>
        <source>Device, tokens</source>
        <translation>Gerät, Token</translation>
    </message>
    <message>
        <source>Energy</source>
        <translation>Energie</translation>
    </message>
    <message>
        <source>Points</source>
        <translation>Punkte</translation>
    </message>
    <message>
        <source>Proof</source>
        <translation>Beweis</translation>
    </message>
    <message>
        <source>Round {number}</source>
        <translation>Runde {number}</translation>
    </message>
    <message>
        <source>{count} tokens</source>
        <translation>{count} Token</translation>
    </message>
    <message>
        <source>{points} as witness</source>
        <translation>{points} als Zeuge</translation>
    </message>
    <message>
        <source>Proof checked by this computer: open to see what that means</source>
        <translation>Beweis von diesem Computer geprüft: öffnen, um zu sehen, was das heißt</translation>
    </message>
    <message>
        <source>No proof was checked yet</source>
        <translation>Noch kein Beweis geprüft</translation>
    </message>
</context>
<context>
    <name>RulesCard</name>
    <message>
        <source>Rules</source>
        <translation>Regeln</translation>
    </message>
    <message>
        <source>What an entrant may use</source>
        <translation>Was ein Teilnehmer verwenden darf</translation>
    </message>
    <message>
        <source>Texts that nobody has seen</source>
        <translation>Texte, die niemand kennt</translation>
    </message>
    <message>
        <source>How it is scored</source>
        <translation>Wie bewertet wird</translation>
    </message>
    <message>
        <source>Why it can be believed</source>
        <translation>Warum man dem Ergebnis glauben kann</translation>
    </message>
    <message>
        <source>Training data</source>
        <translation>Trainingsdaten</translation>
    </message>
    <message>
        <source>Rules about training data</source>
        <translation>Regeln zu den Trainingsdaten</translation>
    </message>
    <message>
        <source>How many bits a model needs for each byte of the texts: fewer are better. Perplexity per byte is 2 to the power of these bits, and gives the same ranking. A model reads {window} tokens at a time, {stride} of them new. Entrants that cannot be told apart share a place.</source>
        <translation>Wie viele Bits ein Modell für jedes Byte der Texte braucht: Weniger ist besser. Die Perplexität pro Byte ist 2 hoch diese Bits und ergibt dieselbe Reihenfolge. Ein Modell liest {window} Token auf einmal, davon {stride} neue. Teilnehmer, die sich nicht unterscheiden lassen, teilen sich einen Platz.</translation>
    </message>
    <message>
        <source>{evaluators} computers that are not involved in any entry are drawn by lot to score. For each text the median score counts, so one dishonest evaluator changes nothing, and everything is in the log.</source>
        <translation>{evaluators} Computer, die zu keinem Teilnehmer gehören, werden zum Bewerten ausgelost. Bei jedem Text zählt die mittlere Bewertung, sodass ein Lügner darunter nichts bewirkt, und alles steht im Protokoll.</translation>
    </message>
    <message>
        <source>What may be trained on is written at this address:</source>
        <translation>Womit trainiert werden darf, steht unter dieser Adresse:</translation>
    </message>
    <message>
        <source>These rules say nothing about what may be trained on.</source>
        <translation>Diese Regeln legen nicht fest, womit trainiert werden darf.</translation>
    </message>
    <message>
        <source>A model has at most {count} parameters.</source>
        <translation>Ein Modell hat höchstens {count} Parameter.</translation>
    </message>
    <message>
        <source>Its run may train on {count} tokens.</source>
        <translation>Sein Lauf darf mit {count} Token trainieren.</translation>
    </message>
    <message numerus="yes">
        <source>It has %n hour(s) from the opening of its run.</source>
        <translation>
            <numerusform>Es hat %n Stunde ab der Eröffnung seines Laufs.</numerusform>
            <numerusform>Es hat %n Stunden ab der Eröffnung seines Laufs.</numerusform>
        </translation>
    </message>
    <message>
        <source>Size, tokens and time have no limit.</source>
        <translation>So viel sie will: Größe, Token und Zeit sind nicht begrenzt.</translation>
    </message>
    <message>
        <source>{texts} texts, {size}, were sealed before the competition was opened. Only after the deadline are {drawn} of them drawn by lot.</source>
        <translation>{texts} Texte, {size}, wurden vor der Eröffnung des Wettbewerbs versiegelt. Erst nach dem Abgabeschluss werden {drawn} davon ausgelost.</translation>
    </message>
    <message>
        <source>One person alone holds the key to them and has to be trusted.</source>
        <translation>Eine einzige Person hat den Schlüssel dazu; ihr muss man vertrauen.</translation>
    </message>
    <message>
        <source>The key to them is shared among {custodians} custodians; {needed} have to act together to open them.</source>
        <translation>Der Schlüssel dazu ist auf {custodians} Verwahrer verteilt; {needed} müssen zusammenwirken, um die Texte zu öffnen.</translation>
    </message>
</context>
<context>
    <name>RunChat</name>
    <message>
        <source>Try the model</source>
        <translation>Modell ausprobieren</translation>
    </message>
    <message>
        <source>Opens {address} in the browser. It is a service of the organisers: nothing that it writes is checked by the network.</source>
        <translation>Öffnet {address} im Browser. Das ist ein Dienst der Organisatoren: Was er schreibt, prüft das Netzwerk nicht.</translation>
    </message>
</context>
<context>
    <name>RunChoice</name>
    <message>
        <source>Rounds done</source>
        <translation>Runden fertig</translation>
    </message>
    <message>
        <source>Yours</source>
        <translation>Deiner</translation>
    </message>
    <message>
        <source>Ended</source>
        <translation>Beendet</translation>
    </message>
    <message>
        <source>Chosen</source>
        <translation>Gewählt</translation>
    </message>
    <message>
        <source>Full</source>
        <translation>Voll</translation>
    </message>
    <message>
        <source>Round {number} of {rounds}</source>
        <translation>Runde {number} von {rounds}</translation>
    </message>
    <message>
        <source>Round {number}</source>
        <translation>Runde {number}</translation>
    </message>
    <message numerus="yes">
        <source>%Ln volunteer(s)</source>
        <translation>
            <numerusform>%Ln Freiwilliger</numerusform>
            <numerusform>%Ln Freiwillige</numerusform>
        </translation>
    </message>
    <message>
        <source>{members} of {most} volunteers</source>
        <translation>{members} von {most} Freiwilligen</translation>
    </message>
</context>
<context>
    <name>RunCode</name>
    <message>
        <source>This run brings its own code: {name} {version} ({hash}).</source>
        <translation>Dieser Lauf bringt eigenen Code mit: {name} {version} ({hash}).</translation>
    </message>
    <message>
        <source>You allowed it.</source>
        <translation>Du hast ihn erlaubt.</translation>
    </message>
    <message>
        <source>It needs your consent before it trains here.</source>
        <translation>Er braucht deine Zustimmung, bevor hier damit trainiert wird.</translation>
    </message>
</context>
<context>
    <name>RunDetail</name>
    <message>
        <source>What joining means</source>
        <translation>Was der Beitritt bedeutet</translation>
    </message>
    <message>
        <source>Join this run</source>
        <translation>Diesem Lauf beitreten</translation>
    </message>
    <message>
        <source>Stay on this run</source>
        <translation>Bei diesem Lauf bleiben</translation>
    </message>
    <message>
        <source>What it needs</source>
        <translation>Was er braucht</translation>
    </message>
    <message>
        <source>Choose for me</source>
        <translation>Für mich auswählen</translation>
    </message>
    <message>
        <source>Tequio takes an open run that fits your device, your disk and the month's traffic; of several, the one with the most places free. When it ends, the next one is chosen the same way.</source>
        <translation>Tequio nimmt einen offenen Lauf, der zu deinem Gerät, deinem Speicherplatz und dem Datenverkehr dieses Monats passt; gibt es mehrere, den mit den meisten freien Plätzen. Wenn er endet, wird der nächste genauso gewählt.</translation>
    </message>
    <message>
        <source>Tequio chooses for you</source>
        <translation>Tequio wählt für dich</translation>
    </message>
    <message>
        <source>This computer works for {run} now.</source>
        <translation>Dieser Computer arbeitet gerade für {run}.</translation>
    </message>
    <message>
        <source>Chosen</source>
        <translation>Gewählt</translation>
    </message>
    <message>
        <source>Ended</source>
        <translation>Beendet</translation>
    </message>
    <message>
        <source>Take back my consent</source>
        <translation>Zustimmung zurücknehmen</translation>
    </message>
    <message>
        <source>Allow its code…</source>
        <translation>Code erlauben…</translation>
    </message>
    <message>
        <source>This computer is in this run.</source>
        <translation>Dieser Computer ist in diesem Lauf.</translation>
    </message>
    <message>
        <source>This run has ended. Its model and its log stay where they are.</source>
        <translation>Dieser Lauf ist beendet. Sein Modell und sein Protokoll bleiben, wo sie sind.</translation>
    </message>
    <message>
        <source>All places are taken. If you join, you wait until one is free.</source>
        <translation>Alle Plätze sind belegt. Wenn du beitrittst, wartest du, bis einer frei wird.</translation>
    </message>
    <message>
        <source>Open to everyone whose device fits.</source>
        <translation>Offen für alle, deren Gerät passt.</translation>
    </message>
    <message>
        <source>Joining downloads {first} once. While training, it uploads about {up} and downloads about {down} per hour; less while paused.</source>
        <translation>Beim Beitritt werden einmal {first} heruntergeladen. Beim Trainieren gehen pro Stunde etwa {up} hinaus und {down} kommen herein; in Pausen weniger.</translation>
    </message>
    <message>
        <source>After a day it uses about {disk} on the disk, or your storage limit.</source>
        <translation>Nach einem Tag belegt er etwa {disk} auf dem Laufwerk, höchstens aber dein Speicherlimit.</translation>
    </message>
    <message>
        <source>This computer would earn about {points} points a day.</source>
        <translation>Dieser Computer würde etwa {points} Punkte am Tag verdienen.</translation>
    </message>
    <message>
        <source>The {left} left this month will not last for a day of lending.</source>
        <translation>Die {left}, die diesen Monat übrig sind, reichen nicht für einen Tag Verleihen.</translation>
    </message>
    <message numerus="yes">
        <source>The {left} left this month last for about %n day(s) of lending.</source>
        <translation>
            <numerusform>Die {left}, die diesen Monat übrig sind, reichen für etwa %n Tag Verleihen.</numerusform>
            <numerusform>Die {left}, die diesen Monat übrig sind, reichen für etwa %n Tage Verleihen.</numerusform>
        </translation>
    </message>
    <message>
        <source>Something here is less than this run needs, so this computer would wait. Raise a limit, or choose a run that fits.</source>
        <translation>Etwas hier ist weniger, als dieser Lauf braucht; dieser Computer würde also warten. Erhöhe ein Limit oder wähle einen Lauf, der passt.</translation>
    </message>
    <message>
        <source>Your bandwidth limit is less than this run needs: some rounds may end without your work. Raise it in Settings, Network, or choose a run that fits.</source>
        <translation>Dein Bandbreitenlimit ist kleiner, als dieser Lauf braucht: Manche Runden könnten ohne deine Arbeit enden. Erhöhe es unter Einstellungen, Netzwerk, oder wähle einen Lauf, der passt.</translation>
    </message>
    <message>
        <source>You chose this run. It stays chosen until you choose another.</source>
        <translation>Du hast diesen Lauf gewählt. Dabei bleibt es, bis du einen anderen wählst.</translation>
    </message>
    <message>
        <source>Tequio chose it for you, and may choose another when this one ends.</source>
        <translation>Tequio hat ihn für dich gewählt und wählt vielleicht einen anderen, wenn dieser endet.</translation>
    </message>
    <message>
        <source>Joining leaves the run that you are in now; your points stay yours.</source>
        <translation>Mit dem Beitritt verlässt du deinen jetzigen Lauf; deine Punkte bleiben dir.</translation>
    </message>
    <message numerus="yes">
        <source>This run needs {needed} of memory, and this computer lends {most}. One computer with %n card(s) like this one could train it: start a worker there by {command}.</source>
        <translation>
            <numerusform>Dieser Lauf braucht {needed} Speicher, und dieser Computer stellt {most} bereit. Ein Computer mit %n Grafikkarte wie dieser könnte ihn trainieren: Starte dort den Hintergrunddienst ({command}).</numerusform>
            <numerusform>Dieser Lauf braucht {needed} Speicher, und dieser Computer stellt {most} bereit. Ein Computer mit %n Grafikkarten wie dieser könnte ihn trainieren: Starte dort den Hintergrunddienst ({command}).</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>This run needs {needed} of memory, and this computer lends {most}. %n computer(s) like this one could train it together: open a cell with others in your network by {command}.</source>
        <translation>
            <numerusform>Dieser Lauf braucht {needed} Speicher, und dieser Computer stellt {most} bereit. %n Computer wie dieser könnte ihn trainieren: Öffne mit anderen in deinem Netzwerk eine Zelle ({command}).</numerusform>
            <numerusform>Dieser Lauf braucht {needed} Speicher, und dieser Computer stellt {most} bereit. %n Computer wie dieser könnten ihn gemeinsam trainieren: Öffne mit anderen in deinem Netzwerk eine Zelle ({command}).</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RunFigures</name>
    <message>
        <source>Parameters</source>
        <translation>Parameter</translation>
    </message>
    <message>
        <source>Tokens trained</source>
        <translation>Trainierte Token</translation>
    </message>
    <message>
        <source>Round</source>
        <translation>Runde</translation>
    </message>
    <message>
        <source>Volunteers</source>
        <translation>Freiwillige</translation>
    </message>
    <message>
        <source>{count} parameters</source>
        <translation>{count} Parameter</translation>
    </message>
    <message>
        <source>{count} parameters; {trained} of them are adapters, and trained</source>
        <translation>{count} Parameter; {trained} davon sind Adapter und werden trainiert</translation>
    </message>
</context>
<context>
    <name>RunNeeds</name>
    <message>
        <source>Learns from: {source}</source>
        <translation>Lernt aus: {source}</translation>
    </message>
    <message>
        <source>Licence of the model: {licence}</source>
        <translation>Lizenz des Modells: {licence}</translation>
    </message>
    <message>
        <source>Opened by: {keys}</source>
        <translation>Eröffnet von: {keys}</translation>
    </message>
    <message>
        <source>From the organisers: {text}</source>
        <translation>Von den Organisatoren: {text}</translation>
    </message>
    <message>
        <source>Paused: {text}</source>
        <translation>Pausiert: {text}</translation>
    </message>
    <message>
        <source>Graphics memory</source>
        <translation>Grafikspeicher</translation>
    </message>
    <message>
        <source>No limit set</source>
        <translation>Kein Limit gesetzt</translation>
    </message>
    <message>
        <source>Not known here</source>
        <translation>Hier nicht bekannt</translation>
    </message>
    <message>
        <source>of {most} on {device}</source>
        <translation>von {most} auf {device}</translation>
    </message>
    <message>
        <source>Fits</source>
        <translation>Passt</translation>
    </message>
    <message>
        <source>Just fits</source>
        <translation>Passt knapp</translation>
    </message>
    <message>
        <source>Does not fit</source>
        <translation>Passt nicht</translation>
    </message>
    <message>
        <source>Not known yet</source>
        <translation>Noch unbekannt</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>of {most} free</source>
        <translation>von {most}, die frei sind</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>Speicherplatz</translation>
    </message>
    <message>
        <source>of {most} your limits allow</source>
        <translation>von {most}, die deine Limits lassen</translation>
    </message>
    <message>
        <source>First download</source>
        <translation>Erster Download</translation>
    </message>
    <message>
        <source>of {most} left this month</source>
        <translation>von {most}, die diesen Monat übrig sind</translation>
    </message>
    <message>
        <source>Upload per hour</source>
        <translation>Upload pro Stunde</translation>
    </message>
    <message>
        <source>of {most} your limit allows</source>
        <translation>von {most} laut deinem Limit</translation>
    </message>
    <message>
        <source>Download per hour</source>
        <translation>Download pro Stunde</translation>
    </message>
</context>
<context>
    <name>RunNewsCard</name>
    <message>
        <source>Choose the next run</source>
        <translation>Den nächsten Lauf wählen</translation>
    </message>
    <message>
        <source>Chat with the model</source>
        <translation>Mit dem Modell chatten</translation>
    </message>
    <message>
        <source>See the run's page</source>
        <translation>Seite des Laufs ansehen</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>Ausblenden</translation>
    </message>
    <message>
        <source>No other open run fits this computer now. Tequio keeps looking.</source>
        <translation>Zurzeit passt kein anderer offener Lauf zu diesem Computer. Tequio sucht weiter.</translation>
    </message>
    <message>
        <source>Open runs that fit this computer: {names}.</source>
        <translation>Offene Läufe, die zu diesem Computer passen: {names}.</translation>
    </message>
</context>
<context>
    <name>RunNewsTexts</name>
    <message>
        <source>{run} went back to round {round}</source>
        <translation>{run} ist zu Runde {round} zurückgekehrt</translation>
    </message>
    <message>
        <source>{run} is complete</source>
        <translation>{run} ist abgeschlossen</translation>
    </message>
    <message>
        <source>{run} has ended</source>
        <translation>{run} ist beendet</translation>
    </message>
    <message>
        <source>In this network you are #{rank} of {ranked}.</source>
        <translation>In diesem Netzwerk bist du auf Platz {rank} von {ranked}.</translation>
    </message>
    <message>
        <source>Its organisers gave up the rounds after that one, and training goes on from there. Your points stay yours.</source>
        <translation>Die Organisatoren haben die späteren Runden verworfen, und das Training geht von dort aus weiter. Deine Punkte bleiben dir.</translation>
    </message>
    <message>
        <source>It reached its last round, {round}.</source>
        <translation>Die letzte Runde, {round}, ist erreicht.</translation>
    </message>
    <message>
        <source>It ended after {round} of {rounds} rounds.</source>
        <translation>Beendet nach {round} von {rounds} Runden.</translation>
    </message>
    <message>
        <source>It ended after round {round}.</source>
        <translation>Beendet nach Runde {round}.</translation>
    </message>
    <message>
        <source>Its model went from {first} to {last} bits per byte of unseen text, or from perplexity {before} to {after} per byte.</source>
        <translation>Bei ungesehenem Text kam das Modell von {first} auf {last} Bits pro Byte, also von Perplexität {before} auf {after} pro Byte.</translation>
    </message>
    <message>
        <source>You earned {points} points in it.</source>
        <translation>Du hast darin {points} Punkte verdient.</translation>
    </message>
    <message numerus="yes">
        <source>You earned {points} points in %Ln accepted round(s).</source>
        <translation>
            <numerusform>Du hast in %Ln anerkannten Runde {points} Punkte verdient.</numerusform>
            <numerusform>Du hast in %Ln anerkannten Runden {points} Punkte verdient.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RunPublished</name>
    <message>
        <source>Published heads</source>
        <translation>Veröffentlichte Modellstände</translation>
    </message>
</context>
<context>
    <name>RunStep</name>
    <message>
        <source>What would you like to train?</source>
        <translation>Was möchtest du trainieren?</translation>
    </message>
    <message>
        <source>A run is one model that many train together. You can switch at any time.</source>
        <translation>Ein Lauf ist ein Modell, das viele gemeinsam trainieren. Du kannst jederzeit wechseln.</translation>
    </message>
    <message>
        <source>The network is not answering, so its runs cannot be listed. You can go on: Tequio keeps trying, and joins the run that fits this computer best.</source>
        <translation>Das Netzwerk antwortet nicht, deshalb lassen sich seine Läufe nicht auflisten. Du kannst weitermachen: Tequio versucht es weiter und tritt dem Lauf bei, der am besten zu diesem Computer passt.</translation>
    </message>
    <message>
        <source>Recommended</source>
        <translation>Empfohlen</translation>
    </message>
    <message>
        <source>The open run that fits this computer and needs it most.</source>
        <translation>Der offene Lauf, der zu diesem Computer passt und ihn am meisten braucht.</translation>
    </message>
    <message>
        <source>Choose for me</source>
        <translation>Für mich auswählen</translation>
    </message>
    <message>
        <source>Full</source>
        <translation>Voll</translation>
    </message>
    <message numerus="yes">
        <source>%Ln volunteer(s)</source>
        <translation>
            <numerusform>%Ln Freiwilliger</numerusform>
            <numerusform>%Ln Freiwillige</numerusform>
        </translation>
    </message>
    <message>
        <source>{memory} of memory</source>
        <translation>{memory} Speicher</translation>
    </message>
    <message>
        <source>{data} to download once</source>
        <translation>{data} einmaliger Download</translation>
    </message>
    <message>
        <source>{data} up per hour</source>
        <translation>{data} Upload pro Stunde</translation>
    </message>
    <message>
        <source>round {number} of {rounds}</source>
        <translation>Runde {number} von {rounds}</translation>
    </message>
</context>
<context>
    <name>RunWriting</name>
    <message>
        <source>What the model writes</source>
        <translation>Was das Modell schreibt</translation>
    </message>
    <message>
        <source>Held-out text</source>
        <translation>Zurückgehaltener Text</translation>
    </message>
    <message>
        <source>The model continues</source>
        <translation>Das Modell schreibt weiter</translation>
    </message>
    <message>
        <source>After round {number}. Generated by the model; not anyone's opinion.</source>
        <translation>Nach Runde {number}. Vom Modell erzeugt; niemandes Meinung.</translation>
    </message>
    <message>
        <source>Nothing: to the model the text ends there.</source>
        <translation>Nichts: Für das Modell endet der Text dort.</translation>
    </message>
</context>
<context>
    <name>RunsPage</name>
    <message>
        <source>Runs</source>
        <translation>Trainingsläufe</translation>
    </message>
    <message>
        <source>Each run trains one model, round by round.</source>
        <translation>Jeder Lauf trainiert ein Modell, Runde für Runde.</translation>
    </message>
    <message>
        <source>Runs to choose from</source>
        <translation>Läufe zur Auswahl</translation>
    </message>
    <message>
        <source>Join a network…</source>
        <translation>Netzwerk beitreten …</translation>
    </message>
    <message>
        <source>Each run trains one model, round by round. Updated {ago}.</source>
        <translation>Jeder Lauf trainiert ein Modell, Runde für Runde. Liste {ago} gelesen.</translation>
    </message>
    <message>
        <source>The run that you chose is open, but its rules could not be read, so it is not in this list. Tequio keeps trying.</source>
        <translation>Der Lauf, den du gewählt hast, ist offen, aber seine Regeln konnten nicht gelesen werden; darum steht er nicht in dieser Liste. Tequio versucht es weiter.</translation>
    </message>
    <message>
        <source>The run that you chose is no longer open, so Tequio chooses for you.</source>
        <translation>Der Lauf, den du gewählt hast, ist nicht mehr offen, also wählt Tequio für dich.</translation>
    </message>
    <message>
        <source>No run is open now. Tequio keeps looking and joins when one opens: there is nothing to do.</source>
        <translation>Gerade ist kein Lauf offen. Tequio sieht weiter nach und tritt bei, sobald einer öffnet: Du musst nichts tun.</translation>
    </message>
    <message>
        <source>No network yet</source>
        <translation>Noch kein Netzwerk</translation>
    </message>
    <message>
        <source>Runs belong to a network. Choose one with Join a network.</source>
        <translation>Läufe gehören zu einem Netzwerk. Wähle eines mit „Netzwerk beitreten“.</translation>
    </message>
    <message>
        <source>The rules of the open runs could not be read. Tequio keeps trying.</source>
        <translation>Die Regeln der offenen Läufe konnten nicht gelesen werden. Tequio versucht es weiter.</translation>
    </message>
    <message>
        <source>Couldn't load the runs</source>
        <translation>Die Läufe konnten nicht geladen werden</translation>
    </message>
    <message>
        <source>No run yet</source>
        <translation>Noch kein Lauf</translation>
    </message>
    <message>
        <source>{problem}. Tequio will keep trying.</source>
        <translation>{problem}. Tequio versucht es weiter.</translation>
    </message>
    <message>
        <source>Asking the network which runs there are.</source>
        <translation>Das Netzwerk wird gefragt, welche Läufe es gibt.</translation>
    </message>
    <message>
        <source>Looking for runs</source>
        <translation>Läufe werden gesucht</translation>
    </message>
</context>
<context>
    <name>SamplePanel</name>
    <message>
        <source>Bits per byte</source>
        <translation>Bits pro Byte</translation>
    </message>
    <message>
        <source>Perplexity</source>
        <translation>Perplexität</translation>
    </message>
    <message>
        <source>{name}: after round {number}</source>
        <translation>{name}: nach Runde {number}</translation>
    </message>
    <message>
        <source>Nothing: to the model the text ends there.</source>
        <translation>Nichts: Für das Modell endet der Text dort.</translation>
    </message>
    <message>
        <source>Nobody reported what this round's model writes.</source>
        <translation>Niemand hat gemeldet, was das Modell dieser Runde schreibt.</translation>
    </message>
    <message>
        <source>{task}: {percent} of answers right ({chance} by guessing)</source>
        <translation>{task}: {percent} richtige Antworten ({chance} durch Raten)</translation>
    </message>
    <message>
        <source>Worse than after round {number}</source>
        <translation>Schlechter als nach Runde {number}</translation>
    </message>
    <message>
        <source>Measured, not worse</source>
        <translation>Gemessen, in Ordnung</translation>
    </message>
    <message>
        <source>Too few members agree on these figures so far</source>
        <translation>Bisher stimmen zu wenige Mitglieder bei diesen Zahlen überein</translation>
    </message>
</context>
<context>
    <name>SamplesCard</name>
    <message>
        <source>What the model writes</source>
        <translation>Was das Modell schreibt</translation>
    </message>
    <message>
        <source>Earlier round</source>
        <translation>Frühere Runde</translation>
    </message>
    <message>
        <source>Beginning of a text that the model has never seen</source>
        <translation>Anfang eines Textes, den das Modell nie gesehen hat</translation>
    </message>
    <message>
        <source>Earlier</source>
        <translation>Früher</translation>
    </message>
    <message>
        <source>Newest</source>
        <translation>Neuestes</translation>
    </message>
    <message>
        <source>Each measure continues another text, so these two differ.</source>
        <translation>Jede Messung setzt einen anderen Text fort, deshalb unterscheiden sich diese beiden.</translation>
    </message>
    <message>
        <source>Bits per byte: how much of an unseen text the model cannot guess. Perplexity: roughly how many words it is choosing between. Lower is better for both. The texts are generated by the model; they are not anyone's opinion.</source>
        <translation>Bits pro Byte: wie viel eines ungesehenen Textes das Modell nicht errät. Perplexität: zwischen wie vielen Wörtern es gewissermaßen schwankt. Bei beiden ist weniger besser. Die Texte sind vom Modell erzeugt und niemandes Meinung.</translation>
    </message>
    <message>
        <source>The newest model, after round {number}, has not been measured yet. The chat uses it.</source>
        <translation>Das neueste Modell, nach Runde {number}, wurde noch nicht gemessen. Der Chat verwendet es.</translation>
    </message>
    <message>
        <source>Round {number}</source>
        <translation>Runde {number}</translation>
    </message>
</context>
<context>
    <name>ScheduleStep</name>
    <message>
        <source>When may Tequio use this computer?</source>
        <translation>Wann darf Tequio diesen Computer nutzen?</translation>
    </message>
    <message>
        <source>Unless you change this in Settings, it stops for games, on battery and on metered networks, and aims for at most 80 °C where the device reports its temperature.</source>
        <translation>Sofern du das nicht in den Einstellungen änderst, hält es bei Spielen, im Akkubetrieb und in getakteten Netzwerken an und bleibt möglichst unter 80 °C, wenn das Gerät seine Temperatur meldet.</translation>
    </message>
    <message>
        <source>When to lend</source>
        <translation>Wann verleihen</translation>
    </message>
    <message>
        <source>Gentle</source>
        <translation>Sanft</translation>
    </message>
    <message>
        <source>After 15 minutes without input. Films pause it too.</source>
        <translation>Nach 15 Minuten ohne Eingabe. Auch bei Filmen pausiert es.</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>Ausgewogen</translation>
    </message>
    <message>
        <source>After 5 minutes without input. This suits most people.</source>
        <translation>Nach 5 Minuten ohne Eingabe. Das passt für die meisten.</translation>
    </message>
    <message>
        <source>Max</source>
        <translation>Maximal</translation>
    </message>
    <message>
        <source>After 1 minute, and at 30% of the time while you use it.</source>
        <translation>Nach 1 Minute, und mit 30 % der Zeit, während du den Computer benutzt.</translation>
    </message>
    <message>
        <source>Start when I log in</source>
        <translation>Starten, wenn ich mich anmelde</translation>
    </message>
    <message>
        <source>Starts minimised to the tray. Otherwise you have to start Tequio yourself.</source>
        <translation>Startet minimiert im Infobereich. Sonst musst du Tequio selbst starten.</translation>
    </message>
</context>
<context>
    <name>SettingsPage</name>
    <message>
        <source>Sections</source>
        <translation>Bereiche</translation>
    </message>
    <message>
        <source>Search settings</source>
        <translation>Einstellungen durchsuchen</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Suchen</translation>
    </message>
    <message>
        <source>No results</source>
        <translation>Keine Treffer</translation>
    </message>
    <message>
        <source>No setting mentions these words.</source>
        <translation>Keine Einstellung hat diese Wörter im Titel oder in der Beschreibung.</translation>
    </message>
</context>
<context>
    <name>SetupButton</name>
    <message>
        <source>Open setup</source>
        <translation>Einrichtung öffnen</translation>
    </message>
</context>
<context>
    <name>ShareDialog</name>
    <message>
        <source>Share</source>
        <translation>Teilen</translation>
    </message>
    <message>
        <source>Everyone can see this page. Chats and social networks show its picture beside the link.</source>
        <translation>Alle können diese Seite sehen. Chats und soziale Netzwerke zeigen ihr Bild neben dem Link.</translation>
    </message>
    <message>
        <source>Save the picture…</source>
        <translation>Bild speichern…</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Your points</source>
        <translation>Deine Punkte</translation>
    </message>
    <message>
        <source>Your team</source>
        <translation>Dein Team</translation>
    </message>
    <message>
        <source>Your run</source>
        <translation>Dein Trainingslauf</translation>
    </message>
    <message>
        <source>Page</source>
        <translation>Seite</translation>
    </message>
    <message>
        <source>Link</source>
        <translation>Link</translation>
    </message>
    <message>
        <source>Open the page</source>
        <translation>Seite öffnen</translation>
    </message>
    <message>
        <source>Save the picture</source>
        <translation>Bild speichern</translation>
    </message>
    <message>
        <source>PNG picture (*.png)</source>
        <translation>PNG-Bild (*.png)</translation>
    </message>
    <message>
        <source>The picture is in {file}.</source>
        <translation>Das Bild ist in {file}.</translation>
    </message>
</context>
<context>
    <name>SideBar</name>
    <message>
        <source>Join a network…</source>
        <translation>Netzwerk beitreten …</translation>
    </message>
</context>
<context>
    <name>SideRow</name>
    <message>
        <source>Submitted</source>
        <translation>Eingereicht</translation>
    </message>
    <message>
        <source>You earned {points} points for it</source>
        <translation>Du hast dafür {points} Punkte verdient</translation>
    </message>
    <message>
        <source>Yours</source>
        <translation>Deiner</translation>
    </message>
    <message>
        <source>Chosen</source>
        <translation>Gewählt</translation>
    </message>
    <message>
        <source>Round {number} of {rounds}</source>
        <translation>Runde {number} von {rounds}</translation>
    </message>
    <message numerus="yes">
        <source>%Ln volunteer(s)</source>
        <translation>
            <numerusform>%Ln Freiwilliger</numerusform>
            <numerusform>%Ln Freiwillige</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SidesCard</name>
    <message>
        <source>Entrants</source>
        <translation>Teilnehmer</translation>
    </message>
    <message>
        <source>training loss by round</source>
        <translation>Trainings-Loss je Runde</translation>
    </message>
    <message>
        <source>Training loss of each entrant by round</source>
        <translation>Trainings-Loss jedes Teilnehmers je Runde</translation>
    </message>
    <message>
        <source>As the trainers report it. The winner is decided on texts that nobody has seen.</source>
        <translation>Nach Angabe der Trainer. Der Gewinner entscheidet sich an Texten, die niemand kennt.</translation>
    </message>
    <message>
        <source>Entrants to choose from</source>
        <translation>Teilnehmer zur Auswahl</translation>
    </message>
    <message>
        <source>Nobody has entered yet.</source>
        <translation>Noch niemand nimmt teil.</translation>
    </message>
    <message>
        <source>Models that were trained elsewhere: {names}</source>
        <translation>Anderswo trainierte Modelle: {names}</translation>
    </message>
    <message>
        <source>{name}: {loss} in round {number}</source>
        <translation>{name}: {loss} in Runde {number}</translation>
    </message>
    <message>
        <source>No round has been closed yet. The curves begin with the first.</source>
        <translation>Noch wurde keine Runde geschlossen. Die Kurven beginnen mit der ersten.</translation>
    </message>
    <message>
        <source>Couldn't load the curves: {problem}.</source>
        <translation>Die Kurven konnten nicht geladen werden: {problem}.</translation>
    </message>
    <message>
        <source>Asking the network how the entrants are doing.</source>
        <translation>Das Register wird gefragt, wie die Teilnehmer vorankommen.</translation>
    </message>
</context>
<context>
    <name>SnoozeMenu</name>
    <message>
        <source>Snooze</source>
        <translation>Auszeit</translation>
    </message>
    <message>
        <source>15 minutes</source>
        <translation>15 Minuten</translation>
    </message>
    <message>
        <source>1 hour</source>
        <translation>1 Stunde</translation>
    </message>
    <message>
        <source>Until tomorrow</source>
        <translation>Bis morgen</translation>
    </message>
    <message>
        <source>Until I close {game}</source>
        <translation>Bis ich {game} schließe</translation>
    </message>
    <message>
        <source>Until I close this game</source>
        <translation>Bis ich dieses Spiel schließe</translation>
    </message>
</context>
<context>
    <name>StandingChip</name>
    <message>
        <source>Not known yet</source>
        <translation>Noch unbekannt</translation>
    </message>
    <message>
        <source>Shown once this computer has joined the network.</source>
        <translation>Erscheint, sobald dieser Computer dem Netzwerk beigetreten ist.</translation>
    </message>
    <message>
        <source>Ended</source>
        <translation>Beendet</translation>
    </message>
    <message>
        <source>Log entry {entry} ended this key: it can do nothing more.</source>
        <translation>Protokolleintrag {entry} hat diesen Schlüssel beendet: Er kann nichts mehr tun.</translation>
    </message>
    <message>
        <source>Excluded</source>
        <translation>Ausgeschlossen</translation>
    </message>
    <message>
        <source>No round accepts your key now ({why}). Activity explains what you can do.</source>
        <translation>Keine Runde nimmt deinen Schlüssel gerade an ({why}). Was du tun kannst, steht unter Aktivität.</translation>
    </message>
    <message>
        <source>New</source>
        <translation>Neu</translation>
    </message>
    <message>
        <source>Ten accepted contributions make your key a full member.</source>
        <translation>Zehn angenommene Beiträge machen deinen Schlüssel zum vollen Mitglied.</translation>
    </message>
    <message>
        <source>Good</source>
        <translation>Gut</translation>
    </message>
    <message>
        <source>Changed</source>
        <translation>Geändert</translation>
    </message>
    <message>
        <source>Activity explains what has happened.</source>
        <translation>Was geschehen ist, steht unter Aktivität.</translation>
    </message>
</context>
<context>
    <name>StatCard</name>
    <message>
        <source>{points} points</source>
        <translation>{points} Punkte</translation>
    </message>
</context>
<context>
    <name>Stats</name>
    <message>
        <source>Points today</source>
        <translation>Punkte heute</translation>
    </message>
    <message>
        <source>Total points</source>
        <translation>Punkte insgesamt</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>Rang</translation>
    </message>
    <message>
        <source>Energy today</source>
        <translation>Energie heute</translation>
    </message>
    <message numerus="yes">
        <source>%n round(s) pending</source>
        <translation>
            <numerusform>%n Runde steht aus</numerusform>
            <numerusform>%n Runden stehen aus</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing pending</source>
        <translation>Nichts steht aus</translation>
    </message>
    <message>
        <source>About {points} a day</source>
        <translation>Etwa {points} am Tag</translation>
    </message>
    <message>
        <source>{points} still to be checked</source>
        <translation>{points} noch zu prüfen</translation>
    </message>
    <message>
        <source>Every proof checked here</source>
        <translation>Jeder Beweis hier geprüft</translation>
    </message>
    <message>
        <source>None yet</source>
        <translation>Noch keiner</translation>
    </message>
    <message numerus="yes">
        <source>of %Ln volunteer(s)</source>
        <translation>
            <numerusform>von %Ln Freiwilligen</numerusform>
            <numerusform>von %Ln Freiwilligen</numerusform>
        </translation>
    </message>
    <message>
        <source>After your first verified round</source>
        <translation>Nach der ersten Runde</translation>
    </message>
    <message>
        <source>Not measured here</source>
        <translation>Wird hier nicht gemessen</translation>
    </message>
    <message>
        <source>{energy} in total</source>
        <translation>{energy} insgesamt</translation>
    </message>
    <message>
        <source>Estimated, {total}</source>
        <translation>Geschätzt, {total}</translation>
    </message>
</context>
<context>
    <name>TeamControl</name>
    <message>
        <source>Join or found…</source>
        <translation>Beitreten oder gründen …</translation>
    </message>
    <message>
        <source>Team {number}</source>
        <translation>Team {number}</translation>
    </message>
    <message>
        <source>Open…</source>
        <translation>Öffnen …</translation>
    </message>
</context>
<context>
    <name>TeamDialog</name>
    <message>
        <source>Look at the team</source>
        <translation>Team ansehen</translation>
    </message>
    <message>
        <source>Found the team</source>
        <translation>Team gründen</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Team</source>
        <translation>Team</translation>
    </message>
    <message>
        <source>What you earn in a team also counts for the team. What you earned for it stays with it when you leave.</source>
        <translation>Was du in einem Team verdienst, zählt auch für das Team. Was du für das Team verdient hast, bleibt ihm, wenn du es verlässt.</translation>
    </message>
    <message>
        <source>Join the team “{team}”?</source>
        <translation>Dem Team „{team}“ beitreten?</translation>
    </message>
    <message>
        <source>Its owner, {owner}, invites everyone who has this link.</source>
        <translation>Die Leitung, {owner}, lädt alle ein, die diesen Link haben.</translation>
    </message>
    <message>
        <source>Join the team</source>
        <translation>Team beitreten</translation>
    </message>
    <message numerus="yes">
        <source>%n member(s)</source>
        <translation>
            <numerusform>%n Mitglied</numerusform>
            <numerusform>%n Mitglieder</numerusform>
        </translation>
    </message>
    <message>
        <source>{points} points so far</source>
        <translation>bisher {points} Punkte</translation>
    </message>
    <message>
        <source>Everyone can see that you are in the team, and what you earn for it.</source>
        <translation>Alle können sehen, dass du im Team bist und was du für das Team verdienst.</translation>
    </message>
    <message>
        <source>Your points stay yours. They also count for the team, from now on.</source>
        <translation>Deine Punkte bleiben dir. Ab jetzt zählen sie auch für das Team.</translation>
    </message>
    <message>
        <source>The owner can remove you; you can leave at any time.</source>
        <translation>Die Leitung kann dich entfernen; du kannst das Team jederzeit verlassen.</translation>
    </message>
    <message>
        <source>You are in another team. Leave it before you join this one.</source>
        <translation>Du bist in einem anderen Team. Verlasse es, bevor du diesem beitrittst.</translation>
    </message>
    <message>
        <source>You own this team.</source>
        <translation>Du leitest dieses Team.</translation>
    </message>
    <message>
        <source>Its owner is {owner}.</source>
        <translation>Die Leitung hat {owner}.</translation>
    </message>
    <message>
        <source>{points} points</source>
        <translation>{points} Punkte</translation>
    </message>
    <message>
        <source>What you earned for the team stays with it.</source>
        <translation>Was du für das Team verdient hast, bleibt ihm.</translation>
    </message>
    <message>
        <source>The member that joined first becomes its owner.</source>
        <translation>Das Mitglied, das zuerst beigetreten ist, übernimmt die Leitung.</translation>
    </message>
    <message>
        <source>You are its last member: the team ends for good.</source>
        <translation>Du bist das letzte Mitglied: Das Team endet endgültig.</translation>
    </message>
    <message>
        <source>Leave the team?</source>
        <translation>Das Team verlassen?</translation>
    </message>
    <message>
        <source>Leave the team</source>
        <translation>Team verlassen</translation>
    </message>
    <message>
        <source>Hand the team over to {name}?</source>
        <translation>Das Team an {name} übergeben?</translation>
    </message>
    <message>
        <source>You stay a member, and cannot take the team back.</source>
        <translation>Du bleibst Mitglied und kannst das Team nicht zurücknehmen.</translation>
    </message>
    <message>
        <source>Hand over</source>
        <translation>Übergeben</translation>
    </message>
    <message>
        <source>Remove {name} from the team?</source>
        <translation>{name} aus dem Team entfernen?</translation>
    </message>
    <message>
        <source>The join link stops working, as {name} has it. Points stay.</source>
        <translation>Der Beitrittslink gilt nicht mehr, denn {name} hat ihn. Die Punkte bleiben.</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>Team {number}</source>
        <translation>Team {number}</translation>
    </message>
</context>
<context>
    <name>TimelineCard</name>
    <message>
        <source>Events to show</source>
        <translation>Angezeigte Ereignisse</translation>
    </message>
    <message>
        <source>All</source>
        <translation>Alle</translation>
    </message>
    <message>
        <source>Rounds</source>
        <translation>Runden</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>Achtung</translation>
    </message>
    <message>
        <source>Search in events</source>
        <translation>Ereignisse durchsuchen</translation>
    </message>
    <message>
        <source>Events</source>
        <translation>Ereignisse</translation>
    </message>
    <message>
        <source>Looking</source>
        <translation>Wird geladen</translation>
    </message>
    <message>
        <source>Reading recent events.</source>
        <translation>Die letzten Ereignisse werden gelesen.</translation>
    </message>
    <message>
        <source>Couldn't load the events</source>
        <translation>Die Ereignisse konnten nicht geladen werden</translation>
    </message>
    <message>
        <source>Older events are being read.</source>
        <translation>Ältere Ereignisse werden gelesen.</translation>
    </message>
    <message>
        <source>No matches</source>
        <translation>Keine davon</translation>
    </message>
    <message>
        <source>No event fits the filter and the search.</source>
        <translation>Kein Ereignis passt zu Filter und Suche.</translation>
    </message>
    <message>
        <source>Nothing happened yet</source>
        <translation>Noch ist nichts geschehen</translation>
    </message>
    <message>
        <source>What this computer does for the swarm will be listed here.</source>
        <translation>Was dieser Computer für den Schwarm tut, steht hier in ganzen Sätzen.</translation>
    </message>
</context>
<context>
    <name>Tray</name>
    <message>
        <source>Join a network…</source>
        <translation>Netzwerk beitreten …</translation>
    </message>
    <message>
        <source>Open Tequio</source>
        <translation>Tequio öffnen</translation>
    </message>
    <message>
        <source>Quit – stops lending</source>
        <translation>Beenden – verleiht nicht mehr</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>Beenden</translation>
    </message>
    <message>
        <source>Contribute</source>
        <translation>Mitmachen</translation>
    </message>
    <message>
        <source>Set up …</source>
        <translation>Einrichten …</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pausieren</translation>
    </message>
    <message>
        <source>Resume now</source>
        <translation>Jetzt fortsetzen</translation>
    </message>
    <message>
        <source>Go on after this round</source>
        <translation>Nach der Runde weitermachen</translation>
    </message>
    <message>
        <source>Finish round, then stop</source>
        <translation>Nach der Runde aufhören</translation>
    </message>
</context>
<context>
    <name>UndoToast</name>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
</context>
<context>
    <name>UnlockDialog</name>
    <message>
        <source>Your key is sealed</source>
        <translation>Dein Schlüssel ist versiegelt</translation>
    </message>
    <message>
        <source>Nothing is lent before you give its passphrase. It is kept until you quit.</source>
        <translation>Bevor du seine Passphrase eingibst, wird nichts verliehen. Sie bleibt gemerkt, bis du Tequio beendest.</translation>
    </message>
    <message>
        <source>Unlock</source>
        <translation>Entsperren</translation>
    </message>
    <message>
        <source>Passphrase</source>
        <translation>Passphrase</translation>
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
        <translation>Upload</translation>
    </message>
    <message>
        <source>Traffic</source>
        <translation>Datenmenge</translation>
    </message>
    <message>
        <source>Downloaded and uploaded this month, of your monthly limit</source>
        <translation>In diesem Monat herunter- und hochgeladen, von deinem Monatslimit</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>Speicherplatz</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>{used} of {most}</source>
        <translation>{used} von {most}</translation>
    </message>
</context>
<context>
    <name>UsedQuestion</name>
    <message>
        <source>While you use the computer, the device will be busy for {share} of the time. It gets louder and uses more power, and videos or scrolling may stutter. The rules for games and films still apply.</source>
        <translation>Während du den Computer benutzt, ist das Gerät {share} der Zeit beschäftigt. Es wird lauter und braucht mehr Strom, und Videos oder Scrollen können ruckeln. Die Regeln für Spiele und Filme gelten weiterhin.</translation>
    </message>
</context>
<context>
    <name>UsedSwitch</name>
    <message>
        <source>Lend while I use the computer</source>
        <translation>Verleihen, während ich den Computer benutze</translation>
    </message>
</context>
<context>
    <name>WeekEditor</name>
    <message>
        <source>Hours in which to lend</source>
        <translation>Stunden, in denen verliehen wird</translation>
    </message>
    <message>
        <source>Hours</source>
        <translation>Stunden</translation>
    </message>
    <message>
        <source>Always</source>
        <translation>Immer</translation>
    </message>
    <message>
        <source>Nights</source>
        <translation>Nachts</translation>
    </message>
    <message>
        <source>Outside office hours</source>
        <translation>Außerhalb der Bürozeiten</translation>
    </message>
    <message>
        <source>Custom</source>
        <translation>Eigene</translation>
    </message>
    <message>
        <source>No hour is selected, so nothing is ever lent.</source>
        <translation>Es ist keine Stunde ausgewählt, also wird nie etwas verliehen.</translation>
    </message>
    <message>
        <source>Hours changed.</source>
        <translation>Stunden geändert.</translation>
    </message>
</context>
<context>
    <name>WeekGrid</name>
    <message>
        <source>may lend</source>
        <translation>darf verleihen</translation>
    </message>
    <message>
        <source>does not lend</source>
        <translation>verleiht nicht</translation>
    </message>
</context>
<context>
    <name>WelcomeStep</name>
    <message>
        <source>Lend your idle computer to open models</source>
        <translation>Verleihe deinen ungenutzten Computer an offene Modelle</translation>
    </message>
    <message>
        <source>Tequio trains open language models on the computers of volunteers, while nobody needs them. Nothing is lent before you agree to it at the end.</source>
        <translation>Tequio trainiert offene Sprachmodelle auf den Computern von Freiwilligen, während niemand sie braucht. Bevor du am Ende zustimmst, wird nichts verliehen.</translation>
    </message>
    <message>
        <source>Stops when you play</source>
        <translation>Hält an, wenn du spielst</translation>
    </message>
    <message>
        <source>Starting a game or going full screen stops it within seconds and frees all GPU memory.</source>
        <translation>Sobald ein Spiel startet oder ein Programm in den Vollbildmodus geht, hält es binnen Sekunden an und gibt den ganzen GPU-Speicher frei.</translation>
    </message>
    <message>
        <source>Points you can check</source>
        <translation>Punkte, die du prüfen kannst</translation>
    </message>
    <message>
        <source>Each round gives compute points. Your computer checks every proof.</source>
        <translation>Jede Runde bringt Rechenpunkte. Dein Computer prüft jeden Beweis.</translation>
    </message>
    <message>
        <source>Keeps to itself</source>
        <translation>Lässt deine Daten in Ruhe</translation>
    </message>
    <message>
        <source>It reads none of your files. Settings lists all that it sends.</source>
        <translation>Es liest keine deiner Dateien. In den Einstellungen steht alles, was es sendet.</translation>
    </message>
</context>
<context>
    <name>WordsGrid</name>
    <message>
        <source>The 24 words</source>
        <translation>Die 24 Wörter</translation>
    </message>
    <message>
        <source>24 words, hidden</source>
        <translation>24 Wörter, verborgen</translation>
    </message>
</context>
<context>
    <name>WorkerLogCard</name>
    <message>
        <source>Log of the worker</source>
        <translation>Protokoll des Hintergrunddienstes</translation>
    </message>
    <message>
        <source>For troubleshooting. Copying adds what the app sees, but no key and no password.</source>
        <translation>Für die Fehlersuche. Beim Kopieren kommt hinzu, was die App sieht; kein Schlüssel, kein Passwort.</translation>
    </message>
    <message>
        <source>Last lines of the log</source>
        <translation>Letzte Zeilen des Protokolls</translation>
    </message>
    <message>
        <source>The worker has not logged anything yet.</source>
        <translation>Der Hintergrunddienst hat noch nichts gemeldet.</translation>
    </message>
    <message>
        <source>Copy diagnostics</source>
        <translation>Diagnose kopieren</translation>
    </message>
    <message>
        <source>Diagnostics copied: paste them into your report</source>
        <translation>Diagnose kopiert: Füge sie in deine Meldung ein</translation>
    </message>
</context>
<context>
    <name>WorkerProcess</name>
    <message>
        <source>The worker is not running.</source>
        <translation>Der Hintergrunddienst läuft nicht.</translation>
    </message>
    <message>
        <source>The worker has ended.</source>
        <translation>Der Hintergrunddienst hat sich beendet.</translation>
    </message>
    <message>
        <source>The worker failed {tries} times in a row, the last time so: {why}</source>
        <translation>Der Hintergrunddienst ist {tries} Mal in Folge abgestürzt, zuletzt so: {why}</translation>
    </message>
    <message>
        <source>{why} It is started again.</source>
        <translation>{why} Er wird neu gestartet.</translation>
    </message>
</context>
<context>
    <name>checks</name>
    <message>
        <source>Graphics card</source>
        <translation>Grafikkarte</translation>
    </message>
    <message>
        <source>Driver</source>
        <translation>Treiber</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>Speicherplatz</translation>
    </message>
    <message>
        <source>Network</source>
        <translation>Netzwerk</translation>
    </message>
    <message>
        <source>Looking…</source>
        <translation>Wird geprüft …</translation>
    </message>
    <message>
        <source>Its probe has not answered. Tequio keeps asking; you can go on.</source>
        <translation>Die Abfrage hat noch nicht geantwortet. Tequio fragt weiter; du kannst fortfahren.</translation>
    </message>
    <message>
        <source>None that can train was found. {processor} with {cores} cores can help too.</source>
        <translation>Keine gefunden, die trainieren kann. {processor} mit {cores} Kernen kann auch helfen.</translation>
    </message>
    <message>
        <source>{card} does not say how much memory it has.</source>
        <translation>{card} gibt nicht an, wie viel Speicher sie hat.</translation>
    </message>
    <message>
        <source>{card} has {memory}: too little to train most models.</source>
        <translation>{card} hat {memory}: zu wenig, um die meisten Modelle zu trainieren.</translation>
    </message>
    <message>
        <source>{card} with {memory}, of which at most {usable} are used.</source>
        <translation>{card} mit {memory}, davon werden höchstens {usable} genutzt.</translation>
    </message>
    <message>
        <source>Its probe has not answered yet.</source>
        <translation>Die Abfrage hat noch nicht geantwortet.</translation>
    </message>
    <message>
        <source>None is needed for the processor.</source>
        <translation>Für den Prozessor wird keiner gebraucht.</translation>
    </message>
    <message>
        <source>It does not say its version. The first start will show it.</source>
        <translation>Er gibt seine Version nicht an. Der erste Start wird es zeigen.</translation>
    </message>
    <message>
        <source>Version {driver} is too old to train: install {oldest} or newer, then restart.</source>
        <translation>Version {driver} ist zum Trainieren zu alt: Installiere {oldest} oder neuer und starte dann neu.</translation>
    </message>
    <message>
        <source>Version {driver} can train.</source>
        <translation>Version {driver} kann trainieren.</translation>
    </message>
    <message>
        <source>It is not known how much is free.</source>
        <translation>Es lässt sich nicht feststellen, wie viel frei ist.</translation>
    </message>
    <message>
        <source>{free} GB are free. Tequio takes {store} GB at most, and {stays} stay free.</source>
        <translation>{free} GB sind frei. Tequio nimmt höchstens {store} GB, und {stays} bleiben frei.</translation>
    </message>
    <message>
        <source>{free} GB are free. {stays} stay free, so Tequio has {store} GB: some runs fit.</source>
        <translation>{free} GB sind frei. {stays} bleiben frei, also hat Tequio {store} GB: Einige Läufe passen.</translation>
    </message>
    <message>
        <source>Only {free} GB are free and {wanted} are needed, of which {stays} stay free: make room before lending.</source>
        <translation>Nur {free} GB sind frei, und {wanted} sind nötig, von denen {stays} frei bleiben: Schaffe vor dem Verleihen Platz.</translation>
    </message>
    <message>
        <source>You choose the network in step 5.</source>
        <translation>Das Netzwerk wählst du in Schritt 5.</translation>
    </message>
    <message>
        <source>You join “{network}” by your invitation.</source>
        <translation>Mit deiner Einladung trittst du „{network}“ bei.</translation>
    </message>
    <message>
        <source>The network does not answer now. You can go on: Tequio keeps trying.</source>
        <translation>Das Netzwerk antwortet gerade nicht. Du kannst weitermachen: Tequio versucht es weiter.</translation>
    </message>
    <message>
        <source>The network answers. No run is open now; one will be joined.</source>
        <translation>Das Netzwerk antwortet. Gerade ist kein Lauf offen; sobald einer öffnet, geht es los.</translation>
    </message>
    <message numerus="yes">
        <source>The network answers, and %n run(s) are open.</source>
        <translation>
            <numerusform>Das Netzwerk antwortet, und %n Lauf ist offen.</numerusform>
            <numerusform>Das Netzwerk antwortet, und %n Läufe sind offen.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>competitions</name>
    <message>
        <source>Announced</source>
        <translation>Angekündigt</translation>
    </message>
    <message>
        <source>Under way</source>
        <translation>Läuft</translation>
    </message>
    <message>
        <source>Deadline over</source>
        <translation>Abgabeschluss vorbei</translation>
    </message>
    <message>
        <source>Closed</source>
        <translation>Geschlossen</translation>
    </message>
    <message>
        <source>Being opened</source>
        <translation>Wird geöffnet</translation>
    </message>
    <message>
        <source>Being scored</source>
        <translation>Wird bewertet</translation>
    </message>
    <message>
        <source>Being checked</source>
        <translation>Wird geprüft</translation>
    </message>
    <message>
        <source>Decided</source>
        <translation>Entschieden</translation>
    </message>
    <message>
        <source>No ranking</source>
        <translation>Keine Rangliste</translation>
    </message>
    <message>
        <source>It has not begun yet. Join an entrant's run now to train from the start.</source>
        <translation>Er hat noch nicht begonnen. Tritt jetzt dem Lauf eines Teilnehmers bei, um von Anfang an zu trainieren.</translation>
    </message>
    <message>
        <source>The entrants are training. The last submission of each before the deadline counts.</source>
        <translation>Die Teilnehmer trainieren. Es zählt, was jeder vor dem Abgabeschluss zuletzt einreicht.</translation>
    </message>
    <message>
        <source>The deadline is over. The ledger closes the competition any moment.</source>
        <translation>Der Abgabeschluss ist vorbei. Das Register schließt den Wettbewerb jeden Moment.</translation>
    </message>
    <message>
        <source>Nothing can be submitted any more. Every volunteer evaluator draws a lot, which nobody can choose. The lots decide who scores, and on which texts.</source>
        <translation>Es kann nichts mehr eingereicht werden. Jeder freiwillige Bewerter zieht ein Los, das niemand wählen kann. Die Lose entscheiden, wer bewertet und an welchen Texten.</translation>
    </message>
    <message>
        <source>The custodians reveal their parts of the key. Any {needed} of the {custodians} parts open the texts.</source>
        <translation>Die Verwahrer legen ihre Teile des Schlüssels vor: {needed} von {custodians} öffnen die Texte.</translation>
    </message>
    <message>
        <source>The texts are open. Evaluators, drawn by lot, score each entrant on them, and commit to their scores before anyone reveals any.</source>
        <translation>Die Texte sind offen. Ausgeloste Bewerter bewerten daran jeden Teilnehmer und legen sich auf ihre Bewertungen fest, bevor jemand welche zeigt.</translation>
    </message>
    <message>
        <source>Evaluators reveal the scores that they committed to. Until the result, anyone may score a model again and challenge a score.</source>
        <translation>Die Bewerter zeigen die Bewertungen, auf die sie sich festgelegt haben. Bis zum Ergebnis kann jeder nachbewerten und eine Bewertung anfechten.</translation>
    </message>
    <message>
        <source>The result stands, and anyone can check it from the log alone.</source>
        <translation>Das Ergebnis steht fest, und jeder kann es allein anhand des Protokolls prüfen.</translation>
    </message>
    <message>
        <source>It ended without a ranking: too few custodians revealed their parts of the key in time, or there was nobody to score.</source>
        <translation>Ohne Rangliste beendet: Zu wenige Verwahrer haben ihre Teile des Schlüssels rechtzeitig vorgelegt, oder niemand konnte bewerten.</translation>
    </message>
    <message>
        <source>It ended without a ranking: too few of those who were drawn scored the entrants in time.</source>
        <translation>Ohne Rangliste beendet: Zu wenige der Ausgelosten haben die Teilnehmer rechtzeitig bewertet.</translation>
    </message>
    <message>
        <source>until it begins</source>
        <translation>bis zum Beginn</translation>
    </message>
    <message>
        <source>until the deadline</source>
        <translation>bis zum Abgabeschluss</translation>
    </message>
    <message>
        <source>until the draw</source>
        <translation>bis zur Auslosung</translation>
    </message>
    <message>
        <source>until all must be scored</source>
        <translation>bis zum Wertungsende</translation>
    </message>
    <message>
        <source>until the result</source>
        <translation>bis zum Ergebnis</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>Beginn</translation>
    </message>
    <message>
        <source>Deadline</source>
        <translation>Abgabeschluss</translation>
    </message>
    <message>
        <source>Draw</source>
        <translation>Auslosung</translation>
    </message>
    <message>
        <source>Scores</source>
        <translation>Bewertungen</translation>
    </message>
    <message>
        <source>Result</source>
        <translation>Ergebnis</translation>
    </message>
</context>
<context>
    <name>figures</name>
    <message>
        <source>{used} of {most}</source>
        <translation>{used} von {most}</translation>
    </message>
    <message>
        <source>about what an {card} does in {time}</source>
        <translation>so viel wie eine {card} in {time}</translation>
    </message>
    <message>
        <source>about {time} on an {card}</source>
        <translation>etwa {time} einer {card}</translation>
    </message>
    <message>
        <source>{n} s</source>
        <translation>{n} s</translation>
    </message>
    <message>
        <source>{n} min</source>
        <translation>{n} min</translation>
    </message>
    <message>
        <source>{n} h</source>
        <translation>{n} h</translation>
    </message>
    <message>
        <source>{n} days</source>
        <translation>{n} Tage</translation>
    </message>
    <message>
        <source>{number}%</source>
        <translation>{number} %</translation>
    </message>
    <message numerus="yes">
        <source>%n byte(s)</source>
        <translation>
            <numerusform>%n Byte</numerusform>
            <numerusform>%n Bytes</numerusform>
        </translation>
    </message>
    <message>
        <source>{rate} Mbit/s</source>
        <translation>{rate} Mbit/s</translation>
    </message>
    <message>
        <source>{days} d {hours} h</source>
        <translation>{days} d {hours} h</translation>
    </message>
    <message>
        <source>{hours} h {minutes} min</source>
        <translation>{hours} h {minutes} min</translation>
    </message>
    <message>
        <source>{minutes} min</source>
        <translation>{minutes} min</translation>
    </message>
    <message>
        <source>{seconds} s</source>
        <translation>{seconds} s</translation>
    </message>
    <message>
        <source>{energy} kWh</source>
        <translation>{energy} kWh</translation>
    </message>
    <message>
        <source>{energy} Wh</source>
        <translation>{energy} Wh</translation>
    </message>
    <message>
        <source>{degrees} °C</source>
        <translation>{degrees} °C</translation>
    </message>
    <message>
        <source>{watts} W</source>
        <translation>{watts} W</translation>
    </message>
    <message>
        <source>{day} {month}</source>
        <translation>{day}. {month}</translation>
    </message>
    <message>
        <source>tomorrow {time}</source>
        <translation>morgen {time}</translation>
    </message>
    <message>
        <source>{weekday} {day} {month} {year}, {time}</source>
        <translation>{weekday} {day}. {month} {year}, {time}</translation>
    </message>
    <message>
        <source>just now</source>
        <translation>gerade eben</translation>
    </message>
    <message>
        <source>{time} ago</source>
        <translation>vor {time}</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>Heute</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>Gestern</translation>
    </message>
    <message>
        <source>{weekday} {day} {month}</source>
        <translation>{weekday}, {day}. {month}</translation>
    </message>
    <message>
        <source>{weekday} {day} {month} {year}</source>
        <translation>{weekday}, {day}. {month} {year}</translation>
    </message>
    <message>
        <source>{number}T</source>
        <translation>{number} Bio</translation>
    </message>
    <message>
        <source>{number}B</source>
        <translation>{number} Mrd</translation>
    </message>
    <message>
        <source>{number}M</source>
        <translation>{number} Mio</translation>
    </message>
    <message>
        <source>{number}k</source>
        <translation>{number} Tsd</translation>
    </message>
</context>
<context>
    <name>headline</name>
    <message>
        <source>Starting</source>
        <translation>Startet</translation>
    </message>
    <message>
        <source>The worker is being started.</source>
        <translation>Der Hintergrunddienst startet.</translation>
    </message>
    <message>
        <source>Pausing…</source>
        <translation>Wird pausiert …</translation>
    </message>
    <message>
        <source>The device is given back at once.</source>
        <translation>Das Gerät wird sofort zurückgegeben.</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>Startet …</translation>
    </message>
    <message>
        <source>Checking whether it's OK to start…</source>
        <translation>Es wird geprüft, ob es losgehen darf …</translation>
    </message>
    <message>
        <source>No connection</source>
        <translation>Keine Verbindung</translation>
    </message>
    <message>
        <source>Neither the network's ledger nor another computer answers. Tequio keeps trying; work that has begun goes on.</source>
        <translation>Weder das Register des Netzwerks noch ein anderer Computer antwortet. Tequio versucht es weiter; begonnene Arbeit läuft weiter.</translation>
    </message>
</context>
<context>
    <name>health</name>
    <message>
        <source>Time without input</source>
        <translation>Zeit ohne Eingabe</translation>
    </message>
    <message>
        <source>Screen lock</source>
        <translation>Bildschirmsperre</translation>
    </message>
    <message>
        <source>Other users</source>
        <translation>Andere Benutzer</translation>
    </message>
    <message>
        <source>Fullscreen programs</source>
        <translation>Programme im Vollbild</translation>
    </message>
    <message>
        <source>Game mode</source>
        <translation>Spielmodus</translation>
    </message>
    <message>
        <source>Programs that run</source>
        <translation>Laufende Programme</translation>
    </message>
    <message>
        <source>Metered network</source>
        <translation>Getaktetes Netzwerk</translation>
    </message>
    <message>
        <source>Graphics cards</source>
        <translation>Grafikkarten</translation>
    </message>
    <message>
        <source>Processor load</source>
        <translation>Prozessorauslastung</translation>
    </message>
    <message>
        <source>Processor temperature</source>
        <translation>Prozessortemperatur</translation>
    </message>
    <message>
        <source>Main memory</source>
        <translation>Arbeitsspeicher</translation>
    </message>
    <message>
        <source>Battery</source>
        <translation>Akku</translation>
    </message>
    <message>
        <source>Power saving</source>
        <translation>Energiesparen</translation>
    </message>
    <message>
        <source>Without it, lending waits until the computer is locked. Lock it when you leave, or allow lending while you use it in Settings, When to lend.</source>
        <translation>Ohne das wird erst verliehen, wenn der Computer gesperrt ist. Sperre ihn, wenn du gehst, oder erlaube unter Einstellungen, Wann verleihen, das Verleihen während der Benutzung.</translation>
    </message>
    <message>
        <source>Without it, only the time without input tells that you are away.</source>
        <translation>Ohne das zeigt nur die Zeit ohne Eingabe, dass du weg bist.</translation>
    </message>
    <message>
        <source>Without it, lending waits, since another user may be at the computer. Start Tequio again.</source>
        <translation>Ohne das wird nicht verliehen, denn jemand anders könnte am Computer sitzen. Starte Tequio neu.</translation>
    </message>
    <message>
        <source>Without it, lending waits until the computer is locked, unless you switch off pausing for games in Settings, When to lend.</source>
        <translation>Ohne das wird erst verliehen, wenn der Computer gesperrt ist, außer du schaltest unter Einstellungen, Wann verleihen, das Pausieren bei Spielen aus.</translation>
    </message>
    <message>
        <source>Games are still known by their launchers and by filling the screen. To have it, install GameMode.</source>
        <translation>Spiele werden trotzdem an ihren Startern und am Vollbild erkannt. Wenn du ihn möchtest, installiere GameMode.</translation>
    </message>
    <message>
        <source>Without it, your exclusive programs and games cannot be seen. Empty that list and switch off pausing for games in Settings, When to lend, or start Tequio again.</source>
        <translation>Ohne das sind deine exklusiven Programme und Spiele nicht zu erkennen. Leere deren Liste und schalte unter Einstellungen, Wann verleihen, das Pausieren bei Spielen aus, oder starte Tequio neu.</translation>
    </message>
    <message>
        <source>Without it, large transfers wait. Allow metered networks in Settings, Network, if yours costs nothing.</source>
        <translation>Ohne das warten große Übertragungen. Erlaube unter Einstellungen, Netzwerk, getaktete Netzwerke, wenn deins nichts kostet.</translation>
    </message>
    <message>
        <source>If such a card is in this computer, install or update its driver, then start the computer again.</source>
        <translation>Wenn eine solche Karte in diesem Computer steckt, installiere oder aktualisiere ihren Treiber und starte den Computer dann neu.</translation>
    </message>
    <message>
        <source>Lending goes on; only the processor's temperature goal cannot be kept.</source>
        <translation>Das Verleihen geht weiter; nur die Zieltemperatur des Prozessors lässt sich nicht einhalten.</translation>
    </message>
    <message>
        <source>If this computer has no battery, allow it in Settings, When to lend.</source>
        <translation>Wenn dieser Computer keinen Akku hat, erlaube das unter Einstellungen, Wann verleihen.</translation>
    </message>
    <message>
        <source>If you never save power, allow lending while power is saved in Settings, When to lend.</source>
        <translation>Wenn du nie Energie sparst, erlaube unter Einstellungen, Wann verleihen, das Verleihen beim Energiesparen.</translation>
    </message>
    <message>
        <source>Start Tequio again. If that does not help, copy the diagnostics and report it.</source>
        <translation>Starte Tequio neu. Hilft das nicht, kopiere die Diagnose und melde den Fehler.</translation>
    </message>
</context>
<context>
    <name>judging</name>
    <message>
        <source>It takes {memory} of memory</source>
        <translation>Das braucht {memory} Arbeitsspeicher</translation>
    </message>
    <message>
        <source>It takes memory, about five bytes for each parameter of a model</source>
        <translation>Das braucht Arbeitsspeicher, etwa fünf Byte für jeden Parameter eines Modells</translation>
    </message>
    <message>
        <source>{takes}, and some minutes of computing for each model when the texts are open, by the same rules as training. Evaluators cannot win with an entry of their own, nor judge a run that they trained in.</source>
        <translation>{takes} und einige Minuten Rechenzeit je Modell, sobald die Texte offen sind, nach denselben Regeln wie beim Training. Bewerter können mit keinem eigenen Beitrag gewinnen und keinen Lauf bewerten, in dem sie trainiert haben.</translation>
    </message>
    <message>
        <source>You help to judge: this computer makes its offer within a minute or two.</source>
        <translation>Du hilfst beim Bewerten: Dieser Computer bietet sich in ein bis zwei Minuten an.</translation>
    </message>
    <message>
        <source>Volunteers, drawn by lot, decide the winner: their computers score every model on the sealed texts. Yours can be one of them.</source>
        <translation>Ausgeloste Freiwillige entscheiden, wer gewinnt: Ihre Computer bewerten jedes Modell an den versiegelten Texten. Deiner kann einer davon sein.</translation>
    </message>
    <message>
        <source>You were drawn, but judging is switched off: {done} of {models} models are scored. Switch it on, or the scores of this computer will be missing.</source>
        <translation>Du wurdest ausgelost, aber das Bewerten ist ausgeschaltet: {done} von {models} Modellen sind bewertet. Schalte es ein, sonst müssen die anderen ohne dich auskommen.</translation>
    </message>
    <message>
        <source>You were drawn: {done} of {models} models are scored. It goes on when this computer may lend and the round under way is over.</source>
        <translation>Du wurdest ausgelost: {done} von {models} Modellen sind bewertet. Es geht weiter, sobald dieser Computer verleihen darf und die laufende Runde vorbei ist.</translation>
    </message>
    <message>
        <source>Scoring: {done} of {models} models are done. The next one is made ready.</source>
        <translation>Bewertung läuft: {done} von {models} Modellen sind fertig. Das nächste wird vorbereitet.</translation>
    </message>
    <message>
        <source>Scoring: {done} of {models} models are done; {documents} of {texts} texts of {name}.</source>
        <translation>Bewertung läuft: {done} von {models} Modellen sind fertig; {documents} von {texts} Texten bei {name}.</translation>
    </message>
    <message>
        <source>Offered</source>
        <translation>Angeboten</translation>
    </message>
    <message>
        <source>In the draw</source>
        <translation>In der Auslosung</translation>
    </message>
    <message>
        <source>Not in the draw</source>
        <translation>Nicht in der Auslosung</translation>
    </message>
    <message>
        <source>Not drawn</source>
        <translation>Nicht ausgelost</translation>
    </message>
    <message>
        <source>Drawn</source>
        <translation>Ausgelost</translation>
    </message>
    <message>
        <source>All scored</source>
        <translation>Alle bewertet</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>Fertig</translation>
    </message>
    <message>
        <source>Not in time</source>
        <translation>Nicht rechtzeitig</translation>
    </message>
    <message>
        <source>Scoring</source>
        <translation>Bewertet</translation>
    </message>
    <message>
        <source>Not possible</source>
        <translation>Nicht möglich</translation>
    </message>
    <message>
        <source>On</source>
        <translation>Ein</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>Aus</translation>
    </message>
    <message>
        <source>Your offer is in the log. After the deadline this computer draws a lot by itself; let Tequio run then, or others are drawn.</source>
        <translation>Dein Angebot steht im Protokoll. Nach dem Abgabeschluss zieht dieser Computer von selbst ein Los; lass Tequio dann laufen, sonst werden andere ausgelost.</translation>
    </message>
    <message>
        <source>Your lot is drawn. When the texts are opened, the lots decide who scores.</source>
        <translation>Dein Los ist gezogen. Wenn die Texte geöffnet werden, entscheiden die Lose, wer bewertet.</translation>
    </message>
    <message>
        <source>No lot was drawn here in time, so others score. Nothing is lost.</source>
        <translation>Hier wurde nicht rechtzeitig ein Los gezogen, also bewerten andere. Du verlierst nichts.</translation>
    </message>
    <message>
        <source>Others were drawn. Thank you for the offer.</source>
        <translation>Andere wurden ausgelost. Danke für dein Angebot.</translation>
    </message>
    <message>
        <source>All models are scored here, and committed to. The scores are revealed when all others have committed too, or their time is over.</source>
        <translation>Alle Modelle sind hier bewertet, und die Bewertungen sind festgelegt. Sie werden gezeigt, wenn alle anderen sich auch festgelegt haben oder ihre Zeit um ist.</translation>
    </message>
    <message>
        <source>All your scores are in the log. Thank you.</source>
        <translation>Alle deine Bewertungen stehen im Protokoll. Danke.</translation>
    </message>
    <message>
        <source>Not all models were scored and revealed in time; the others' scores count.</source>
        <translation>Nicht alle Modelle wurden rechtzeitig bewertet und gezeigt; es zählen die Bewertungen der anderen.</translation>
    </message>
    <message>
        <source>You hold a part of the key to the texts, so others judge here.</source>
        <translation>Du hast einen Teil des Schlüssels zu den Texten, deshalb bewerten hier andere.</translation>
    </message>
    <message>
        <source>Organisers do not judge.</source>
        <translation>Organisatoren bewerten nicht.</translation>
    </message>
    <message>
        <source>You entered {by}, so others judge here.</source>
        <translation>Du hast {by} angemeldet, deshalb bewerten hier andere.</translation>
    </message>
    <message>
        <source>You trained in a run that takes part, as {by}, so others judge here.</source>
        <translation>Du hast in einem teilnehmenden Lauf trainiert ({by}), deshalb bewerten hier andere.</translation>
    </message>
    <message>
        <source>This computer cannot judge now: {by}.</source>
        <translation>Dieser Computer kann gerade nicht bewerten: {by}.</translation>
    </message>
    <message>
        <source>The ledger did not accept your offer: {by}.</source>
        <translation>Das Register hat dein Angebot nicht angenommen: {by}.</translation>
    </message>
</context>
<context>
    <name>keys</name>
    <message>
        <source>the key file {path} cannot be used: {why}</source>
        <translation>die Schlüsseldatei {path} kann nicht benutzt werden: {why}</translation>
    </message>
    <message>
        <source>others may read the key file {path} (mode {mode}): run chmod 600 {path}</source>
        <translation>andere dürfen die Schlüsseldatei {path} lesen (Modus {mode}): Führe chmod 600 {path} aus</translation>
    </message>
    <message>
        <source>the key file {path} has {size} bytes instead of {due}: restore it from a backup, or move it away to become a new peer</source>
        <translation>die Schlüsseldatei {path} hat {size} Bytes statt {due}: Stelle sie aus einer Sicherung wieder her, oder lege sie beiseite, um ein neuer Peer zu werden</translation>
    </message>
    <message>
        <source>the key file {path} is damaged: restore it from a backup</source>
        <translation>die Schlüsseldatei {path} ist beschädigt: Stelle sie aus einer Sicherung wieder her</translation>
    </message>
    <message>
        <source>no key found in {folder}: restore one from a backup, or make a new one</source>
        <translation>kein Schlüssel in {folder} gefunden: Stelle einen aus einer Sicherung wieder her oder erstelle einen neuen</translation>
    </message>
    <message>
        <source>there is a key in {folder} already: restoring puts it aside, making does not</source>
        <translation>in {folder} ist schon ein Schlüssel: Beim Wiederherstellen wird er beiseitegelegt, beim Erstellen nicht</translation>
    </message>
    <message>
        <source>the key file {path} is sealed: a passphrase is needed</source>
        <translation>die Schlüsseldatei {path} ist versiegelt: Eine Passphrase wird gebraucht</translation>
    </message>
    <message>
        <source>the passphrase does not open the key file</source>
        <translation>die Passphrase öffnet die Schlüsseldatei nicht</translation>
    </message>
    <message>
        <source>the passphrase has fewer than {least} characters: choose a longer one</source>
        <translation>die Passphrase hat weniger als {least} Zeichen: Wähle eine längere</translation>
    </message>
    <message>
        <source>this system has no keyring that could keep a secret: choose another way to store it</source>
        <translation>dieses System hat keinen Schlüsselbund für Geheimnisse: Wähle eine andere Art der Speicherung</translation>
    </message>
    <message>
        <source>the system's keyring is locked: unlock it and try again</source>
        <translation>der Schlüsselbund des Systems ist gesperrt: Entsperre ihn und versuche es noch einmal</translation>
    </message>
    <message>
        <source>the system's keyring fails ({why}): try again, or choose a passphrase</source>
        <translation>der Schlüsselbund des Systems meldet einen Fehler ({why}): Versuche es noch einmal oder wähle eine Passphrase</translation>
    </message>
    <message>
        <source>the system's keyring has not answered for {seconds} s: it may be asking for its password behind another window; try again then</source>
        <translation>der Schlüsselbund des Systems hat {seconds} s lang nicht geantwortet: Vielleicht fragt er hinter einem anderen Fenster nach seinem Passwort; versuche es dann noch einmal</translation>
    </message>
    <message>
        <source>the system's keyring has no entry for the key file {path}: it was emptied, or is another user's; restore the key from a backup</source>
        <translation>der Schlüsselbund des Systems hat keinen Eintrag für die Schlüsseldatei {path}: Er wurde geleert oder gehört einem anderen Benutzer; stelle den Schlüssel aus einer Sicherung wieder her</translation>
    </message>
    <message>
        <source>the backup {path} cannot be used: {why}</source>
        <translation>die Sicherung {path} kann nicht benutzt werden: {why}</translation>
    </message>
    <message>
        <source>the file {path} is not a key backup: choose the one that is</source>
        <translation>die Datei {path} ist keine Schlüsselsicherung: Wähle die richtige</translation>
    </message>
    <message>
        <source>the passphrase does not open the backup {path}, or the file is damaged</source>
        <translation>die Passphrase öffnet die Sicherung {path} nicht, oder die Datei ist beschädigt</translation>
    </message>
    <message>
        <source>the backup {path} does not read back as it was written: choose another place, this one is unreliable</source>
        <translation>die Sicherung {path} liest sich anders, als sie geschrieben wurde: Wähle einen anderen Ort, dieser ist unzuverlässig</translation>
    </message>
    <message>
        <source>a key has {due} words and these are {count}</source>
        <translation>ein Schlüssel hat {due} Wörter, und das sind {count}</translation>
    </message>
    <message>
        <source>word {number}, {word}, is not in the list of words: check your copy on paper</source>
        <translation>Wort {number}, {word}, steht nicht in der Wortliste: Prüfe deine Abschrift auf Papier</translation>
    </message>
    <message>
        <source>word {number}, {word}, is not in the list of words: it may be {near}</source>
        <translation>Wort {number}, {word}, steht nicht in der Wortliste: Vielleicht ist es {near}</translation>
    </message>
    <message>
        <source>all words are in the list, but they do not fit together: one may be wrong, or two may be swapped</source>
        <translation>alle Wörter stehen in der Liste, passen aber nicht zusammen: Vielleicht ist eines falsch, oder zwei sind vertauscht</translation>
    </message>
    <message>
        <source>the words do not belong together: look at word {number}, {word}, which may have been {near}</source>
        <translation>die Wörter gehören nicht zusammen: Prüfe Wort {number}, {word}, vielleicht war es {near}</translation>
    </message>
    <message>
        <source>the words do not belong together: words {first} and {second} may have changed places</source>
        <translation>die Wörter gehören nicht zusammen: Vielleicht sind Wort {first} und Wort {second} vertauscht</translation>
    </message>
</context>
<context>
    <name>notices</name>
    <message>
        <source>Dismiss</source>
        <translation>Ausblenden</translation>
    </message>
    <message>
        <source>Your settings could not be read. They are kept as {detail}, and the usual ones hold until you choose others.</source>
        <translation>Deine Einstellungen konnten nicht gelesen werden. Sie liegen jetzt in {detail}, und bis du andere wählst, gelten die üblichen.</translation>
    </message>
    <message>
        <source>Your settings were written by a newer Tequio. What this one knows of them is used; they are kept as {detail}.</source>
        <translation>Deine Einstellungen stammen von einem neueren Tequio. Was dieses davon kennt, wird benutzt; sie liegen in {detail}.</translation>
    </message>
    <message>
        <source>Your settings could not be saved ({detail}). They hold until you quit; make room or make the file writable, and they will be saved.</source>
        <translation>Deine Einstellungen konnten nicht gespeichert werden ({detail}). Sie gelten, bis du Tequio beendest; schaffe Platz oder mache die Datei beschreibbar, dann werden sie gespeichert.</translation>
    </message>
    <message>
        <source>A worker that was started elsewhere runs already. This window controls it, and it goes on when you quit.</source>
        <translation>Es läuft schon ein anderswo gestarteter Hintergrunddienst. Dieses Fenster steuert ihn, und er läuft weiter, wenn du das Fenster beendest.</translation>
    </message>
    <message>
        <source>The worker here was started elsewhere, so this window cannot change its network. End it, then join again.</source>
        <translation>Der Hintergrunddienst wurde anderswo gestartet, deshalb kann dieses Fenster sein Netzwerk nicht ändern. Beende ihn und tritt dann noch einmal bei.</translation>
    </message>
    <message>
        <source>You joined {detail}.</source>
        <translation>Du bist {detail} beigetreten.</translation>
    </message>
    <message>
        <source>This competition link is incomplete ({detail}). Copy it again.</source>
        <translation>Dieser Wettbewerbslink ist unvollständig ({detail}). Kopiere ihn noch einmal.</translation>
    </message>
    <message>
        <source>That competition is in another network, whose ledger is {detail}. Choose Join a network, then open the link again.</source>
        <translation>Dieser Wettbewerb ist in einem anderen Netzwerk, dessen Register {detail} ist. Wähle „Netzwerk beitreten“ und öffne dann den Link noch einmal.</translation>
    </message>
    <message>
        <source>Your desktop shows no tray icons, so closing this window minimises it. Ctrl+Q quits and stops lending.</source>
        <translation>Dein Desktop zeigt keine Symbole im Infobereich, deshalb wird dieses Fenster beim Schließen minimiert. Strg+Q beendet Tequio und das Verleihen.</translation>
    </message>
</context>
<context>
    <name>pages</name>
    <message>
        <source>Home</source>
        <translation>Start</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>Trainingsläufe</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Competitions</source>
        <translation>Wettbewerbe</translation>
    </message>
    <message>
        <source>Points</source>
        <translation>Punkte</translation>
    </message>
    <message>
        <source>Hardware</source>
        <translation>Hardware</translation>
    </message>
    <message>
        <source>Activity</source>
        <translation>Aktivität</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
</context>
<context>
    <name>remedies</name>
    <message>
        <source>Try again</source>
        <translation>Erneut versuchen</translation>
    </message>
    <message>
        <source>At the present rate, this month's {cap} of traffic will be used up on {day}. Then nothing is lent until the next month, unless you raise the limit.</source>
        <translation>Geht es so weiter, sind die {cap} Datenverkehr dieses Monats am {day} verbraucht. Dann wird bis zum nächsten Monat nichts verliehen, außer du erhöhst das Limit.</translation>
    </message>
    <message>
        <source>Statements that wait here for it: {waiting}.</source>
        <translation>Erklärungen, die hier darauf warten: {waiting}.</translation>
    </message>
    <message>
        <source>Your key has no backup: if this disk fails, your points cannot be claimed.</source>
        <translation>Dein Schlüssel hat keine Sicherung: Fällt dieses Laufwerk aus, sind deine Punkte verloren.</translation>
    </message>
    <message>
        <source>Open Settings</source>
        <translation>Einstellungen öffnen</translation>
    </message>
    <message>
        <source>Open Hardware</source>
        <translation>Hardware öffnen</translation>
    </message>
    <message>
        <source>Open Activity</source>
        <translation>Aktivität öffnen</translation>
    </message>
    <message>
        <source>Open Runs</source>
        <translation>Läufe öffnen</translation>
    </message>
    <message>
        <source>Join a network…</source>
        <translation>Netzwerk beitreten …</translation>
    </message>
    <message>
        <source>Back it up</source>
        <translation>Jetzt sichern</translation>
    </message>
    <message>
        <source>The network has not answered since {since}.</source>
        <translation>Das Netzwerk antwortet seit {since} nicht mehr.</translation>
    </message>
    <message>
        <source>The network has not answered since {since}. Work goes on, and points follow later.</source>
        <translation>Das Netzwerk antwortet seit {since} nicht mehr. Die Arbeit geht weiter, und die Punkte folgen später.</translation>
    </message>
    <message>
        <source>Update now</source>
        <translation>Jetzt aktualisieren</translation>
    </message>
    <message>
        <source>Update it the way it was installed, for example with git, pip or the system's packages.</source>
        <translation>Aktualisiere es so, wie es installiert wurde, zum Beispiel mit git, pip oder den Paketen des Systems.</translation>
    </message>
</context>
<context>
    <name>sentences</name>
    <message>
        <source>{word}: {reason}</source>
        <translation>{word}: {reason}</translation>
    </message>
    <message>
        <source>{first} {second}</source>
        <translation>{first} {second}</translation>
    </message>
    <message>
        <source>{text}.</source>
        <translation>{text}.</translation>
    </message>
</context>
<context>
    <name>settings</name>
    <message>
        <source>Stops lending now</source>
        <translation>Beendet das Verleihen sofort</translation>
    </message>
    <message>
        <source>on</source>
        <translation>ein</translation>
    </message>
    <message>
        <source>off</source>
        <translation>aus</translation>
    </message>
    <message>
        <source>{note} Default: {default}.</source>
        <translation>{note} Standard: {default}.</translation>
    </message>
    <message>
        <source>When to lend</source>
        <translation>Wann verleihen</translation>
    </message>
    <message>
        <source>Tequio runs only when every rule allows it. Changes apply immediately.</source>
        <translation>Tequio läuft nur, wenn jede Regel es erlaubt. Änderungen gelten sofort.</translation>
    </message>
    <message>
        <source>While you're using the computer</source>
        <translation>Während du den Computer benutzt</translation>
    </message>
    <message>
        <source>Games and films</source>
        <translation>Spiele und Filme</translation>
    </message>
    <message>
        <source>Power</source>
        <translation>Strom</translation>
    </message>
    <message>
        <source>Other programs</source>
        <translation>Andere Programme</translation>
    </message>
    <message>
        <source>Competitions</source>
        <translation>Wettbewerbe</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>Voreinstellung</translation>
    </message>
    <message>
        <source>Default: Balanced. A preset changes only the settings named on its card.</source>
        <translation>Standard: Ausgewogen. Eine Voreinstellung ändert nur, was auf ihrer Karte steht.</translation>
    </message>
    <message>
        <source>Idle time before starting</source>
        <translation>Leerlaufzeit vor dem Start</translation>
    </message>
    <message>
        <source>Starts after this long without input, or as soon as the screen is locked.</source>
        <translation>Startet nach so langer Zeit ohne Eingabe oder sobald der Bildschirm gesperrt ist.</translation>
    </message>
    <message>
        <source>min</source>
        <translation>min</translation>
    </message>
    <message>
        <source>Immediately</source>
        <translation>Sofort</translation>
    </message>
    <message>
        <source>Lend while I use the computer</source>
        <translation>Verleihen, während ich den Computer benutze</translation>
    </message>
    <message>
        <source>Tequio then works for part of the time. The rules for games and films still apply.</source>
        <translation>Tequio arbeitet dann einen Teil der Zeit. Die Regeln für Spiele und Filme gelten weiterhin.</translation>
    </message>
    <message>
        <source>Share of the time</source>
        <translation>Zeitanteil</translation>
    </message>
    <message>
        <source>How much of the time Tequio works while you use the computer.</source>
        <translation>Wie viel der Zeit Tequio arbeitet, während du den Computer benutzt.</translation>
    </message>
    <message>
        <source>Keep the computer awake</source>
        <translation>Computer wach halten</translation>
    </message>
    <message>
        <source>Keeps the computer from going to sleep while something is lent.</source>
        <translation>Der Computer geht nicht in den Standby, solange etwas verliehen wird.</translation>
    </message>
    <message>
        <source>Hours of the week</source>
        <translation>Stunden der Woche</translation>
    </message>
    <message>
        <source>Drag to select hours, or use Shift+arrow keys; Space toggles an hour.</source>
        <translation>Wähle Stunden durch Ziehen oder mit Umschalt+Pfeiltasten; die Leertaste schaltet eine Stunde um.</translation>
    </message>
    <message>
        <source>all hours</source>
        <translation>alle Stunden</translation>
    </message>
    <message>
        <source>Pause for games</source>
        <translation>Bei Spielen pausieren</translation>
    </message>
    <message>
        <source>Nothing is lent while a game runs or fills the screen, and for 60 s afterwards.</source>
        <translation>Nichts wird verliehen, solange ein Spiel läuft oder den Bildschirm füllt, und noch 60 s danach.</translation>
    </message>
    <message>
        <source>Pause for films</source>
        <translation>Bei Filmen pausieren</translation>
    </message>
    <message>
        <source>Nothing is lent while a browser or a video player fills the screen.</source>
        <translation>Nichts wird verliehen, solange ein Browser oder Videoplayer den Bildschirm füllt.</translation>
    </message>
    <message>
        <source>Exclusive programs</source>
        <translation>Exklusive Programme</translation>
    </message>
    <message>
        <source>Nothing is lent while one of these runs: video editing, calls, recording.</source>
        <translation>Nichts wird verliehen, solange eines davon läuft: Videoschnitt, Anrufe, Aufnahmen.</translation>
    </message>
    <message>
        <source>none</source>
        <translation>keine</translation>
    </message>
    <message>
        <source>Lend on battery</source>
        <translation>Im Akkubetrieb verleihen</translation>
    </message>
    <message>
        <source>Continues when the computer is unplugged.</source>
        <translation>Macht weiter, wenn der Computer nicht am Netz hängt.</translation>
    </message>
    <message>
        <source>Lend in power saving mode</source>
        <translation>Im Energiesparmodus verleihen</translation>
    </message>
    <message>
        <source>Continues when power saving is switched on, by you or by the system.</source>
        <translation>Macht weiter, wenn du oder das System das Energiesparen einschalten.</translation>
    </message>
    <message>
        <source>Other programs on the GPU</source>
        <translation>Andere Programme auf der GPU</translation>
    </message>
    <message>
        <source>Pauses while other programs keep the GPU busier than this for 3 s.</source>
        <translation>Pausiert, wenn andere Programme die GPU 3 s lang stärker auslasten.</translation>
    </message>
    <message>
        <source>%</source>
        <translation>%</translation>
    </message>
    <message>
        <source>Other programs on the CPU</source>
        <translation>Andere Programme auf der CPU</translation>
    </message>
    <message>
        <source>Pauses while other programs keep all CPU cores together busier than this.</source>
        <translation>Pausiert, wenn andere Programme alle CPU-Kerne zusammen stärker auslasten.</translation>
    </message>
    <message>
        <source>Help judge competitions</source>
        <translation>Wettbewerbe mitbewerten</translation>
    </message>
    <message>
        <source>Needs about five bytes of memory for each parameter of a model, and some minutes of computing for each model once the texts are open. It follows the same rules as training. A judge cannot win with their own entry, nor judge a run they trained in.</source>
        <translation>Braucht etwa fünf Byte Arbeitsspeicher für jeden Parameter eines Modells und einige Minuten Rechenzeit je Modell, sobald die Texte offen sind. Es gelten dieselben Regeln wie beim Training. Wer bewertet, kann nicht mit einem eigenen Beitrag gewinnen und keinen Lauf bewerten, in dem er trainiert hat.</translation>
    </message>
    <message>
        <source>Network</source>
        <translation>Netzwerk</translation>
    </message>
    <message>
        <source>The network that you work for, and how much bandwidth that may take.</source>
        <translation>Das Netzwerk, für das du arbeitest, und wie viel Bandbreite das nutzen darf.</translation>
    </message>
    <message>
        <source>Your network</source>
        <translation>Dein Netzwerk</translation>
    </message>
    <message>
        <source>Bandwidth</source>
        <translation>Bandbreite</translation>
    </message>
    <message>
        <source>Per month</source>
        <translation>Pro Monat</translation>
    </message>
    <message>
        <source>Connections from others</source>
        <translation>Verbindungen von anderen</translation>
    </message>
    <message>
        <source>Metered networks</source>
        <translation>Getaktete Netzwerke</translation>
    </message>
    <message>
        <source>Ledger</source>
        <translation>Register</translation>
    </message>
    <message>
        <source>The server that keeps the public log of the network's work and points.</source>
        <translation>Der Server, der das öffentliche Protokoll über Arbeit und Punkte des Netzwerks führt.</translation>
    </message>
    <message>
        <source>Upload</source>
        <translation>Upload</translation>
    </message>
    <message>
        <source>Upload limit. Stay below half your connection speed to keep games and calls smooth.</source>
        <translation>Upload-Limit. Bleib unter der Hälfte deiner Leitung, damit Spiele und Anrufe flüssig bleiben.</translation>
    </message>
    <message>
        <source>Mbit/s</source>
        <translation>Mbit/s</translation>
    </message>
    <message>
        <source>No limit</source>
        <translation>Kein Limit</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>Download</translation>
    </message>
    <message>
        <source>Download limit. It does not slow the models that you score for competitions.</source>
        <translation>Download-Limit. Modelle, die du für Wettbewerbe bewertest, bremst es nicht.</translation>
    </message>
    <message>
        <source>Monthly quota</source>
        <translation>Monatliches Kontingent</translation>
    </message>
    <message>
        <source>Upload and download together. Once it is used up, lending resumes on the first of the next month.</source>
        <translation>Upload und Download zusammen. Ist es aufgebraucht, geht das Verleihen am nächsten Monatsersten weiter.</translation>
    </message>
    <message>
        <source>GB</source>
        <translation>GB</translation>
    </message>
    <message>
        <source>Used this month</source>
        <translation>Diesen Monat verbraucht</translation>
    </message>
    <message>
        <source>Others can connect to this computer</source>
        <translation>Andere können sich mit diesem Computer verbinden</translation>
    </message>
    <message>
        <source>Found out by asking other computers of the network to try.</source>
        <translation>Wird ermittelt, indem andere Computer des Netzwerks gebeten werden, es zu versuchen.</translation>
    </message>
    <message>
        <source>Open a port on the router</source>
        <translation>Einen Port am Router öffnen</translation>
    </message>
    <message>
        <source>Asks your router by UPnP or NAT-PMP to let other computers of the network connect to this one. The port is closed when Tequio ends.</source>
        <translation>Bittet deinen Router per UPnP oder NAT-PMP, andere Computer des Netzwerks zu diesem durchzulassen. Der Port wird geschlossen, wenn Tequio endet.</translation>
    </message>
    <message>
        <source>Find members in the local network</source>
        <translation>Mitglieder im lokalen Netzwerk finden</translation>
    </message>
    <message>
        <source>Computers behind the same router exchange directly instead of through the internet. Everyone in the local network can see that this computer runs Tequio.</source>
        <translation>Computer hinter demselben Router tauschen sich direkt aus statt über das Internet. Alle im lokalen Netzwerk können sehen, dass auf diesem Computer Tequio läuft.</translation>
    </message>
    <message>
        <source>Lend on metered networks</source>
        <translation>In getakteten Netzwerken verleihen</translation>
    </message>
    <message>
        <source>On a phone's hotspot, or where the system marks the network as metered.</source>
        <translation>Am Hotspot eines Handys oder wo das System das Netzwerk als getaktet kennzeichnet.</translation>
    </message>
    <message>
        <source>Storage</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>How much disk space Tequio may use.</source>
        <translation>Wie viel Speicherplatz Tequio belegen darf.</translation>
    </message>
    <message>
        <source>Tequio's files</source>
        <translation>Dateien von Tequio</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>Speicherplatz</translation>
    </message>
    <message>
        <source>Storage limit</source>
        <translation>Speicherlimit</translation>
    </message>
    <message>
        <source>For the model, data and updates of your runs. The oldest are deleted first.</source>
        <translation>Für Modell, Daten und Beiträge deiner Läufe. Die ältesten werden zuerst gelöscht.</translation>
    </message>
    <message>
        <source>Used by Tequio</source>
        <translation>Von Tequio belegt</translation>
    </message>
    <message>
        <source>Always keep free</source>
        <translation>Immer frei lassen</translation>
    </message>
    <message>
        <source>Lending waits when less disk space than this is free.</source>
        <translation>Verleihen wartet, wenn weniger Speicherplatz frei ist.</translation>
    </message>
    <message>
        <source>Free now</source>
        <translation>Jetzt frei</translation>
    </message>
    <message>
        <source>On the disk that holds Tequio's files.</source>
        <translation>Auf dem Laufwerk mit den Dateien von Tequio.</translation>
    </message>
    <message>
        <source>Notifications</source>
        <translation>Benachrichtigungen</translation>
    </message>
    <message>
        <source>What Tequio notifies you of.</source>
        <translation>Was Tequio dir meldet.</translation>
    </message>
    <message>
        <source>First points</source>
        <translation>Erste Punkte</translation>
    </message>
    <message>
        <source>Once, when your first points are verified.</source>
        <translation>Einmal, wenn deine ersten Punkte verifiziert sind.</translation>
    </message>
    <message>
        <source>Weekly rank</source>
        <translation>Wöchentlicher Rang</translation>
    </message>
    <message>
        <source>Once a week, how your rank has changed.</source>
        <translation>Einmal pro Woche, wie sich dein Rang verändert hat.</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>Handlungsbedarf</translation>
    </message>
    <message>
        <source>When lending cannot continue until you do something.</source>
        <translation>Wenn das Verleihen erst weitergeht, nachdem du etwas getan hast.</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>Trainingsläufe</translation>
    </message>
    <message>
        <source>When a run you are in ends, or goes back to an earlier model.</source>
        <translation>Wenn ein Lauf, bei dem du mitmachst, endet oder zu einem früheren Modell zurückkehrt.</translation>
    </message>
    <message>
        <source>When one begins, when its deadline is near and when it is decided; when you are drawn to judge, and when all your scores are in.</source>
        <translation>Wenn einer beginnt, wenn sein Abgabeschluss naht und wenn er entschieden ist; wenn du in die Jury gelost wirst und wenn alle deine Bewertungen da sind.</translation>
    </message>
    <message>
        <source>Announcements</source>
        <translation>Ankündigungen</translation>
    </message>
    <message>
        <source>When the organisers of the network announce something to everybody.</source>
        <translation>Wenn die Organisatoren des Netzwerks allen etwas ankündigen.</translation>
    </message>
    <message>
        <source>Notifications wait while a program fills the screen.</source>
        <translation>Solange ein Programm den Bildschirm füllt, warten Benachrichtigungen.</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>Darstellung</translation>
    </message>
    <message>
        <source>Colours, language and motion.</source>
        <translation>Farben, Sprache und Bewegung.</translation>
    </message>
    <message>
        <source>Colours</source>
        <translation>Farben</translation>
    </message>
    <message>
        <source>A light or a dark theme.</source>
        <translation>Ein helles oder dunkles Design.</translation>
    </message>
    <message>
        <source>Same as system</source>
        <translation>Wie das System</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>Hell</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>Dunkel</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Sprache</translation>
    </message>
    <message>
        <source>For texts, dates and numbers. Texts without a translation are in English.</source>
        <translation>Für Texte, Datum und Zahlen. Texte ohne Übersetzung erscheinen auf Englisch.</translation>
    </message>
    <message>
        <source>Reduced motion</source>
        <translation>Weniger Bewegung</translation>
    </message>
    <message>
        <source>No sliding or fading. The system's own setting has the same effect.</source>
        <translation>Kein Gleiten oder Überblenden. Die Einstellung des Systems wirkt genauso.</translation>
    </message>
    <message>
        <source>Account and keys</source>
        <translation>Konto und Schlüssel</translation>
    </message>
    <message>
        <source>Your identity on the network.</source>
        <translation>Deine Identität im Netzwerk.</translation>
    </message>
    <message>
        <source>Name and team</source>
        <translation>Name und Team</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>Schlüssel</translation>
    </message>
    <message>
        <source>If this computer is lost or the key is stolen</source>
        <translation>Wenn dieser Computer verloren geht oder der Schlüssel gestohlen wird</translation>
    </message>
    <message>
        <source>Public name</source>
        <translation>Öffentlicher Name</translation>
    </message>
    <message>
        <source>Shown instead of your key in rankings and on pages. Unique in this network.</source>
        <translation>Erscheint statt deines Schlüssels in Ranglisten und auf Seiten. Einmalig in diesem Netzwerk.</translation>
    </message>
    <message>
        <source>nickname rename</source>
        <translation>spitzname nickname umbenennen</translation>
    </message>
    <message>
        <source>Team</source>
        <translation>Team</translation>
    </message>
    <message>
        <source>Join one with a link from its owner, or found your own. What you earn also counts for your team.</source>
        <translation>Tritt einem mit einem Link von seiner Leitung bei oder gründe ein eigenes. Was du verdienst, zählt auch für dein Team.</translation>
    </message>
    <message>
        <source>group friends</source>
        <translation>gruppe freunde</translation>
    </message>
    <message>
        <source>Peer id</source>
        <translation>Peer-ID</translation>
    </message>
    <message>
        <source>How other computers find yours; visible to everyone.</source>
        <translation>Damit finden andere Computer deinen; für alle sichtbar.</translation>
    </message>
    <message>
        <source>Key fingerprint</source>
        <translation>Fingerabdruck des Schlüssels</translation>
    </message>
    <message>
        <source>The public half of your key, shown with your points and in the ranking. The secret half never leaves this computer; nobody who helps you will ask for it.</source>
        <translation>Die öffentliche Hälfte deines Schlüssels, sie steht bei deinen Punkten und in der Rangliste. Die geheime Hälfte verlässt diesen Computer nie; niemand, der dir hilft, wird danach fragen.</translation>
    </message>
    <message>
        <source>Linked account</source>
        <translation>Verknüpftes Konto</translation>
    </message>
    <message>
        <source>Shows the network that a person is behind your key. Some runs ask for it.</source>
        <translation>Zeigt dem Netzwerk, dass hinter deinem Schlüssel ein Mensch steht. Manche Läufe verlangen das.</translation>
    </message>
    <message>
        <source>connect vouch github tier</source>
        <translation>verbinden bürgen github stufe</translation>
    </message>
    <message>
        <source>Standing</source>
        <translation>Status</translation>
    </message>
    <message>
        <source>Your key is in good standing.</source>
        <translation>Dein Schlüssel hat einen guten Status.</translation>
    </message>
    <message>
        <source>Appeal</source>
        <translation>Einspruch</translation>
    </message>
    <message>
        <source>If your key was restricted by mistake, ask the organisers to review it.</source>
        <translation>Wenn dein Schlüssel irrtümlich eingeschränkt wurde, bitte die Organisatoren um eine Prüfung.</translation>
    </message>
    <message>
        <source>quarantine ban suspected review</source>
        <translation>quarantäne sperre verdacht prüfung</translation>
    </message>
    <message>
        <source>Backup and restore</source>
        <translation>Sichern und wiederherstellen</translation>
    </message>
    <message>
        <source>Setup</source>
        <translation>Einrichtung</translation>
    </message>
    <message>
        <source>Run the setup again. Nothing changes until you finish it.</source>
        <translation>Durchlaufe die Einrichtung noch einmal. Bis du sie abschließt, ändert sich nichts.</translation>
    </message>
    <message>
        <source>Recovery key</source>
        <translation>Wiederherstellungsschlüssel</translation>
    </message>
    <message>
        <source>Stops this computer's key and moves your points to a new one, even if a thief has the computer. Keep it somewhere else.</source>
        <translation>Sperrt den Schlüssel dieses Computers und überträgt deine Punkte auf einen neuen, auch wenn ein Dieb den Computer hat. Bewahre ihn anderswo auf.</translation>
    </message>
    <message>
        <source>stolen lost theft words paper</source>
        <translation>gestohlen verloren diebstahl wörter papier</translation>
    </message>
    <message>
        <source>Replace this computer's key</source>
        <translation>Schlüssel dieses Computers ersetzen</translation>
    </message>
    <message>
        <source>A new key gets your points, standing, name and team. The present one can never be used again.</source>
        <translation>Ein neuer Schlüssel bekommt Punkte, Status, Namen und Team. Der jetzige kann nie wieder benutzt werden.</translation>
    </message>
    <message>
        <source>new key rotate stolen</source>
        <translation>neuer schlüssel wechseln gestohlen</translation>
    </message>
    <message>
        <source>A lost or stolen computer</source>
        <translation>Ein verlorener oder gestohlener Computer</translation>
    </message>
    <message>
        <source>Stop the key of another computer of yours, or move its points to this one.</source>
        <translation>Sperre den Schlüssel eines anderen deiner Computer, oder übertrage seine Punkte auf diesen.</translation>
    </message>
    <message>
        <source>revoke stolen thief</source>
        <translation>widerrufen sperren gestohlen dieb</translation>
    </message>
    <message>
        <source>Startup</source>
        <translation>Autostart</translation>
    </message>
    <message>
        <source>Whether Tequio starts when you log in.</source>
        <translation>Ob Tequio startet, wenn du dich anmeldest.</translation>
    </message>
    <message>
        <source>Start at login</source>
        <translation>Beim Anmelden starten</translation>
    </message>
    <message>
        <source>Starts minimised to the tray; the window stays closed.</source>
        <translation>Startet minimiert im Infobereich; das Fenster bleibt geschlossen.</translation>
    </message>
    <message>
        <source>your choice during setup</source>
        <translation>deine Wahl bei der Einrichtung</translation>
    </message>
    <message>
        <source>autostart background hidden</source>
        <translation>autostart hintergrund versteckt</translation>
    </message>
    <message>
        <source>Privacy</source>
        <translation>Datenschutz</translation>
    </message>
    <message>
        <source>Everything that leaves this computer, and where it goes.</source>
        <translation>Alles, was diesen Computer verlässt, und wohin es geht.</translation>
    </message>
    <message>
        <source>To the public ledger (permanent, readable by anyone)</source>
        <translation>An das öffentliche Register (dauerhaft, für alle lesbar)</translation>
    </message>
    <message>
        <source>To the ledger's operator</source>
        <translation>An den Betreiber des Registers</translation>
    </message>
    <message>
        <source>To other volunteers in your runs</source>
        <translation>An andere Freiwillige in deinen Läufen</translation>
    </message>
    <message>
        <source>To your router</source>
        <translation>An deinen Router</translation>
    </message>
    <message>
        <source>To your local network</source>
        <translation>An dein lokales Netzwerk</translation>
    </message>
    <message>
        <source>To servers that offer Tequio or a run's data</source>
        <translation>An Server, die Tequio oder die Daten eines Laufs anbieten</translation>
    </message>
    <message>
        <source>Never sent</source>
        <translation>Wird nie gesendet</translation>
    </message>
    <message>
        <source>Telemetry</source>
        <translation>Telemetrie</translation>
    </message>
    <message>
        <source>No usage data and no crash reports are ever sent. After an error you can copy a report and send it yourself.</source>
        <translation>Es werden nie Nutzungsdaten oder Absturzberichte gesendet. Nach einem Fehler kannst du einen Bericht kopieren und selbst senden.</translation>
    </message>
    <message>
        <source>None</source>
        <translation>Keine</translation>
    </message>
    <message>
        <source>Your public key, and the work that a new key costs</source>
        <translation>Dein öffentlicher Schlüssel und die Arbeit, die ein neuer Schlüssel kostet</translation>
    </message>
    <message>
        <source>Once, so that points have an owner.</source>
        <translation>Einmal, damit Punkte einen Besitzer haben.</translation>
    </message>
    <message>
        <source>That you are ready, in which roles, with which model</source>
        <translation>Dass du bereit bist, in welchen Rollen, mit welchem Modell</translation>
    </message>
    <message>
        <source>Run, roles, the hash of the model you hold, a commitment for the draw.</source>
        <translation>Lauf, Rollen, der Hash deines Modells, eine Festlegung für die Auslosung.</translation>
    </message>
    <message>
        <source>That you leave, with a reason code</source>
        <translation>Dass du gehst, mit einem Code für den Grund</translation>
    </message>
    <message>
        <source>When lending stops. The code never says why you stopped.</source>
        <translation>Wenn das Verleihen endet. Der Code verrät nie, warum du aufgehört hast.</translation>
    </message>
    <message>
        <source>The header of each update that you trained</source>
        <translation>Der Kopf jedes Beitrags, den du trainiert hast</translation>
    </message>
    <message>
        <source>Run, round, windows of data, tokens, steps, two losses, hashes of model and update.</source>
        <translation>Lauf, Runde, Datenfenster, Token, Schritte, zwei Loss-Werte, Hashes von Modell und Beitrag.</translation>
    </message>
    <message>
        <source>Which model you hold or computed for a round</source>
        <translation>Welches Modell du nach einer Runde hast oder berechnet hast</translation>
    </message>
    <message>
        <source>Hashes of its parts, and your lot for the draw of witnesses.</source>
        <translation>Hashes seiner Teile und dein Los für die Auslosung der Zeugen.</translation>
    </message>
    <message>
        <source>What you found as a witness</source>
        <translation>Was du als Zeuge festgestellt hast</translation>
    </message>
    <message>
        <source>Which updates arrived, which were refused and by which rule, hashes, the hash of the next model.</source>
        <translation>Welche Beiträge ankamen, welche nach welcher Regel abgelehnt wurden, Hashes, der Hash des nächsten Modells.</translation>
    </message>
    <message>
        <source>What you found when you repeated another volunteer's work</source>
        <translation>Was du beim Wiederholen der Arbeit eines anderen festgestellt hast</translation>
    </message>
    <message>
        <source>How far its result is from yours, in a few numbers, and a sketch of yours.</source>
        <translation>Wie weit sein Ergebnis von deinem abweicht, in wenigen Zahlen, und eine Skizze deines Ergebnisses.</translation>
    </message>
    <message>
        <source>How good a model is, where you were drawn to measure it</source>
        <translation>Wie gut ein Modell ist, das du nach Los messen solltest</translation>
    </message>
    <message>
        <source>Its hash, how many bits it needs for text that the run keeps aside, and how it continues a given beginning of a text.</source>
        <translation>Sein Hash, wie viele Bits es für Text braucht, den der Lauf zurückhält, und wie es einen gegebenen Textanfang fortsetzt.</translation>
    </message>
    <message>
        <source>Your offer to judge competitions, and your scores</source>
        <translation>Dein Angebot, Wettbewerbe zu bewerten, und deine Bewertungen</translation>
    </message>
    <message>
        <source>If you switched it on: a lot for the draw, commitments, the bits of each text, the program's version, the device's name and its threads.</source>
        <translation>Wenn du es eingeschaltet hast: ein Los für die Auslosung, Festlegungen, die Bits jedes Textes, die Programmversion, der Name des Geräts und seine Threads.</translation>
    </message>
    <message>
        <source>Proofs that a key contradicted itself</source>
        <translation>Beweise, dass ein Schlüssel sich selbst widersprochen hat</translation>
    </message>
    <message>
        <source>Two statements signed by that key; and your appeal, if you make one.</source>
        <translation>Zwei von diesem Schlüssel unterschriebene Erklärungen; und dein Einspruch, falls du einen einlegst.</translation>
    </message>
    <message>
        <source>That a key has a recovery key, was replaced or was revoked</source>
        <translation>Dass ein Schlüssel einen Wiederherstellungsschlüssel hat, ersetzt oder gesperrt wurde</translation>
    </message>
    <message>
        <source>If you do that: the public halves of the keys, which shows that they have one owner.</source>
        <translation>Wenn du das tust: die öffentlichen Hälften der Schlüssel; sie zeigen, dass sie einem Besitzer gehören.</translation>
    </message>
    <message>
        <source>What you publish yourself</source>
        <translation>Was du selbst veröffentlichst</translation>
    </message>
    <message>
        <source>Your public name; the team that you earn for; entries and challenges in competitions.</source>
        <translation>Dein öffentlicher Name, das Team, für das du verdienst, Anmeldungen und Anfechtungen in Wettbewerben.</translation>
    </message>
    <message>
        <source>With each statement</source>
        <translation>Mit jeder Erklärung</translation>
    </message>
    <message>
        <source>Its number, the time on your clock, the statement before it, your signature.</source>
        <translation>Ihre Nummer, die Zeit auf deiner Uhr, die vorige Erklärung, deine Unterschrift.</translation>
    </message>
    <message>
        <source>Your internet address and your requests</source>
        <translation>Deine Internetadresse und deine Anfragen</translation>
    </message>
    <message>
        <source>As with every web server: log entries, runs, your own points and ranking.</source>
        <translation>Wie bei jedem Webserver: Protokolleinträge, Läufe, deine eigenen Punkte und dein Rang.</translation>
    </message>
    <message>
        <source>The text of an appeal, if you write one</source>
        <translation>Der Text eines Einspruchs, falls du einen schreibst</translation>
    </message>
    <message>
        <source>With your key, the time and your signature.</source>
        <translation>Mit deinem Schlüssel, der Zeit und deiner Unterschrift.</translation>
    </message>
    <message>
        <source>Your peer id, addresses and ports</source>
        <translation>Deine Peer-ID, Adressen und Ports</translation>
    </message>
    <message>
        <source>Including those of this computer in its local network, and the version of the network library.</source>
        <translation>Auch die dieses Computers in seinem lokalen Netzwerk und die Version der Netzwerkbibliothek.</translation>
    </message>
    <message>
        <source>Updates, models, training data and Tequio itself</source>
        <translation>Beiträge, Modelle, Trainingsdaten und Tequio selbst</translation>
    </message>
    <message>
        <source>What you trained, and what others ask for: pieces of the public model and data, and of the versions of Tequio that you have fetched.</source>
        <translation>Was du trainiert hast und was andere anfordern: Teile des öffentlichen Modells, der Daten und der Tequio-Versionen, die du heruntergeladen hast.</translation>
    </message>
    <message>
        <source>Your statements of the current round</source>
        <translation>Deine Erklärungen der laufenden Runde</translation>
    </message>
    <message>
        <source>The same statements that the ledger gets.</source>
        <translation>Dieselben Erklärungen, die das Register bekommt.</translation>
    </message>
    <message>
        <source>A port, and the name Tequio</source>
        <translation>Ein Port und der Name Tequio</translation>
    </message>
    <message>
        <source>Only if you let Tequio open a port on the router, in Network.</source>
        <translation>Nur wenn du Tequio unter Netzwerk einen Port am Router öffnen lässt.</translation>
    </message>
    <message>
        <source>That this computer runs Tequio, and its port</source>
        <translation>Dass auf diesem Computer Tequio läuft, und sein Port</translation>
    </message>
    <message>
        <source>Only if you let Tequio find members there, in Network. Your key is not named.</source>
        <translation>Nur wenn du Tequio dort unter Netzwerk Mitglieder finden lässt. Dein Schlüssel wird nicht genannt.</translation>
    </message>
    <message>
        <source>Your internet address and what you fetch</source>
        <translation>Deine Internetadresse und was du herunterlädst</translation>
    </message>
    <message>
        <source>When Tequio looks for a newer version, or fetches it or what training needs.</source>
        <translation>Wenn Tequio nach einer neueren Version sucht, sie herunterlädt oder holt, was das Training braucht.</translation>
    </message>
    <message>
        <source>Your internet address and the parts you fetch</source>
        <translation>Deine Internetadresse und welche Teile du herunterlädst</translation>
    </message>
    <message>
        <source>When the organiser of a run keeps its data on a web server.</source>
        <translation>Wenn der Organisator eines Laufs dessen Daten auf einem Webserver bereithält.</translation>
    </message>
    <message>
        <source>Your files, programs, games and windows</source>
        <translation>Deine Dateien, Programme, Spiele und Fenster</translation>
    </message>
    <message>
        <source>Tequio checks them on this computer only, to decide whether to lend.</source>
        <translation>Tequio prüft sie nur auf diesem Computer, um zu entscheiden, ob es verleiht.</translation>
    </message>
    <message>
        <source>User name, computer name and device readings</source>
        <translation>Benutzername, Computername und Messwerte der Geräte</translation>
    </message>
    <message>
        <source>Others see how fast you train. Judges also publish the name of the device that scored.</source>
        <translation>Andere sehen, wie schnell du trainierst. Die Jury veröffentlicht auch den Namen des Geräts, das bewertet hat.</translation>
    </message>
    <message>
        <source>Your settings and hours</source>
        <translation>Deine Einstellungen und Stunden</translation>
    </message>
    <message>
        <source>They stay in the app's folder.</source>
        <translation>Sie bleiben im Ordner der App.</translation>
    </message>
    <message>
        <source>Advanced</source>
        <translation>Erweitert</translation>
    </message>
    <message>
        <source>Most people never need these.</source>
        <translation>Die meisten brauchen das nie.</translation>
    </message>
    <message>
        <source>Worker</source>
        <translation>Hintergrunddienst</translation>
    </message>
    <message>
        <source>Updates</source>
        <translation>Updates</translation>
    </message>
    <message>
        <source>Reset</source>
        <translation>Zurücksetzen</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>Ordner</translation>
    </message>
    <message>
        <source>Key, store and state. To move it: quit, move the folder, and start with --dir.</source>
        <translation>Schlüssel, Speicher und Zustand. Zum Umziehen: beenden, Ordner verschieben und mit --dir starten.</translation>
    </message>
    <message>
        <source>Listen address</source>
        <translation>Eigene Netzwerkadresse</translation>
    </message>
    <message>
        <source>Where peers reach this computer, for example /ip4/0.0.0.0/tcp/4001.</source>
        <translation>Wo Peers diesen Computer erreichen, zum Beispiel /ip4/0.0.0.0/tcp/4001.</translation>
    </message>
    <message>
        <source>any free port</source>
        <translation>beliebiger freier Port</translation>
    </message>
    <message>
        <source>Log level</source>
        <translation>Protokollstufe</translation>
    </message>
    <message>
        <source>How much is written to worker.log in the folder. A change restarts the worker.</source>
        <translation>Wie viel in worker.log im Ordner steht. Eine Änderung startet den Hintergrunddienst neu.</translation>
    </message>
    <message>
        <source>Everything</source>
        <translation>Alles</translation>
    </message>
    <message>
        <source>Events</source>
        <translation>Ereignisse</translation>
    </message>
    <message>
        <source>Warnings</source>
        <translation>Warnungen</translation>
    </message>
    <message>
        <source>Errors</source>
        <translation>Fehler</translation>
    </message>
    <message>
        <source>Update automatically</source>
        <translation>Automatisch aktualisieren</translation>
    </message>
    <message>
        <source>Once a day Tequio looks for a newer version, fetches it, and tests it. It starts while you are away and no round is running; if a passphrase protects your key, the next time Tequio starts.</source>
        <translation>Einmal am Tag sucht Tequio eine neuere Version, lädt sie herunter und testet sie. Sie startet, wenn du weg bist und keine Runde läuft; schützt eine Passphrase deinen Schlüssel, beim nächsten Start von Tequio.</translation>
    </message>
    <message>
        <source>Reset all settings</source>
        <translation>Alle Einstellungen zurücksetzen</translation>
    </message>
    <message>
        <source>Restores every default. Key, points, consent and chosen runs stay, except the processor's.</source>
        <translation>Stellt alle Standardwerte wieder her. Schlüssel, Punkte, Zustimmung und gewählte Läufe bleiben, außer dem des Prozessors.</translation>
    </message>
</context>
<context>
    <name>vesting</name>
    <message>
        <source>{points} of your points are still vesting: they can be lost if work turns out not to have been done.</source>
        <translation>{points} deiner Punkte sind noch vorläufig: Sie verfallen, falls sich herausstellt, dass die Arbeit nicht geleistet wurde.</translation>
    </message>
    <message>
        <source>{points} more were forfeited, and are no longer counted.</source>
        <translation>{points} weitere sind verfallen und zählen nicht mehr.</translation>
    </message>
</context>
<context>
    <name>words</name>
    <message>
        <source>Lending</source>
        <translation>Verleiht</translation>
    </message>
    <message>
        <source>Finishing</source>
        <translation>Läuft aus</translation>
    </message>
    <message>
        <source>Waiting</source>
        <translation>Wartet</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>Pausiert</translation>
    </message>
    <message>
        <source>Snoozed</source>
        <translation>Auszeit</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>Achtung</translation>
    </message>
    <message>
        <source>nobody needs the computer. Gives way when you come back.</source>
        <translation>Niemand braucht den Computer. Macht Platz, wenn du zurückkommst.</translation>
    </message>
    <message>
        <source>this device is lent also while you use the computer or play.</source>
        <translation>Dieses Gerät wird auch verliehen, während du den Computer benutzt oder spielst.</translation>
    </message>
    <message>
        <source>whether or not somebody uses the computer, which this worker cannot see. Pause stops it (tequio pause).</source>
        <translation>Auch während jemand den Computer benutzt, denn das kann dieser Hintergrunddienst nicht sehen. „Pausieren“ hält es an (tequio pause).</translation>
    </message>
    <message>
        <source>gently, at {share}% of the time, while you use the computer.</source>
        <translation>sanft, {share} % der Zeit, während du den Computer benutzt.</translation>
    </message>
    <message>
        <source>you started it although a rule says to wait. The rules decide again once they have allowed it for 5 min.</source>
        <translation>Du hast es gestartet, obwohl eine Regel dagegen spricht. Die Regeln entscheiden wieder, sobald sie es 5 min lang erlaubt haben.</translation>
    </message>
    <message>
        <source>scoring models for a competition, as you offered. See Competitions.</source>
        <translation>bewertet Modelle für einen Wettbewerb, wie von dir angeboten. Siehe Wettbewerbe.</translation>
    </message>
    <message>
        <source>nothing is lent before you agree to it. Choose when to lend, then Contribute.</source>
        <translation>Bevor du zustimmst, wird nichts verliehen. Wähle, wann verliehen wird, und dann „Mitmachen“.</translation>
    </message>
    <message>
        <source>you paused it. Resumes when you choose Contribute.</source>
        <translation>Du hast es pausiert. Mit „Mitmachen“ geht es weiter.</translation>
    </message>
    <message>
        <source>the last round is finished, as you asked. Resumes when you choose Contribute.</source>
        <translation>Die letzte Runde ist fertig, wie gewünscht. Mit „Mitmachen“ geht es weiter.</translation>
    </message>
    <message>
        <source>you asked for a break. Resumes automatically.</source>
        <translation>Du wolltest eine Pause. Es geht automatisch weiter.</translation>
    </message>
    <message>
        <source>you asked for a break. Resumes {until}.</source>
        <translation>Du wolltest eine Pause. Weiter geht es {until}.</translation>
    </message>
    <message>
        <source>this device is switched off. Switch it on in Hardware to lend it.</source>
        <translation>Dieses Gerät ist ausgeschaltet. Schalte es unter Hardware ein, um es zu verleihen.</translation>
    </message>
    <message>
        <source>until {program} closes. Resumes 60 s after that.</source>
        <translation>bis {program} geschlossen ist. 60 s danach geht es weiter.</translation>
    </message>
    <message>
        <source>until your game closes. Resumes 60 s after that.</source>
        <translation>bis dein Spiel geschlossen ist. 60 s danach geht es weiter.</translation>
    </message>
    <message>
        <source>your game has closed. Resumes {until}.</source>
        <translation>Dein Spiel ist geschlossen. Weiter geht es {until}.</translation>
    </message>
    <message>
        <source>round {round} is the last one. Then lending stops, as you asked.</source>
        <translation>Runde {round} ist die letzte. Danach endet das Verleihen, wie gewünscht.</translation>
    </message>
    <message>
        <source>what training needs is not installed yet. Resumes when it has been downloaded.</source>
        <translation>Was das Training braucht, ist noch nicht installiert. Nach dem Download geht es weiter.</translation>
    </message>
    <message>
        <source>the training program keeps failing. Contribute tries again; Activity has the log.</source>
        <translation>Das Trainingsprogramm bricht immer wieder ab. „Mitmachen“ versucht es noch einmal; das Protokoll steht unter Aktivität.</translation>
    </message>
    <message>
        <source>can't reach the network at {address}. Tequio keeps trying; check your connection, or the address in Settings, Network.</source>
        <translation>Das Netzwerk bei {address} ist nicht erreichbar. Tequio versucht es weiter; prüfe deine Verbindung oder die Adresse unter Einstellungen, Netzwerk.</translation>
    </message>
    <message>
        <source>no network was chosen yet. Choose one with Join a network.</source>
        <translation>noch kein Netzwerk gewählt. Wähle eines mit „Netzwerk beitreten“.</translation>
    </message>
    <message>
        <source>can't reach the network at {address}. Resumes when it answers.</source>
        <translation>Das Netzwerk bei {address} ist nicht erreichbar. Sobald es antwortet, geht es weiter.</translation>
    </message>
    <message>
        <source>the other computers of the run cannot be reached. Tequio keeps trying; the listen address is in Settings, Advanced.</source>
        <translation>Die anderen Computer des Laufs sind nicht erreichbar. Tequio versucht es weiter; die eigene Netzwerkadresse steht unter Einstellungen, Erweitert.</translation>
    </message>
    <message>
        <source>no run is open now. Resumes automatically when one opens.</source>
        <translation>Gerade ist kein Lauf offen. Sobald einer öffnet, geht es automatisch weiter.</translation>
    </message>
    <message>
        <source>no open run fits this computer. Resumes when one does; Runs says what each needs.</source>
        <translation>Kein offener Lauf passt zu diesem Computer. Sobald einer passt, geht es weiter; unter Trainingsläufe steht, was jeder braucht.</translation>
    </message>
    <message>
        <source>every open run that fits this device is trained by another one of this computer. Resumes when another one opens.</source>
        <translation>Jeden offenen Lauf, der zu diesem Gerät passt, trainiert schon ein anderes Gerät dieses Computers. Sobald ein weiterer öffnet, geht es weiter.</translation>
    </message>
    <message>
        <source>the run has ended. Resumes with another one; your points stay yours.</source>
        <translation>Der Lauf ist beendet. Mit einem anderen geht es weiter; deine Punkte bleiben dir.</translation>
    </message>
    <message>
        <source>this computer cannot take part in the run ({problem}). See Runs; retries automatically.</source>
        <translation>Dieser Computer kann bei dem Lauf nicht mitmachen ({problem}). Siehe Trainingsläufe; es wird automatisch wieder versucht.</translation>
    </message>
    <message>
        <source>the run brings its own code ({plugin}), which needs your consent. See Runs to allow it, or to choose another run.</source>
        <translation>der Lauf bringt eigenen Code mit ({plugin}), der deine Zustimmung braucht. Erlaube ihn unter Trainingsläufe, oder wähle einen anderen Lauf.</translation>
    </message>
    <message>
        <source>your key cannot take part now ({problem}). See Activity for what you can do.</source>
        <translation>Dein Schlüssel kann gerade nicht mitmachen ({problem}). Was du tun kannst, steht unter Aktivität.</translation>
    </message>
    <message>
        <source>this network needs version {wanted} or newer; this is {own}. Resumes once Tequio is updated.</source>
        <translation>Dieses Netzwerk verlangt Version {wanted} oder neuer; dies ist {own}. Nach einem Update von Tequio geht es weiter.</translation>
    </message>
    <message>
        <source>this computer's clock is {minutes} min ahead, so the network refuses its work. Resumes once the clock is set right.</source>
        <translation>Die Uhr dieses Computers geht {minutes} min vor, deshalb lehnt das Netzwerk seine Arbeit ab. Sobald sie richtig gestellt ist, geht es weiter.</translation>
    </message>
    <message>
        <source>this computer's clock is {minutes} min behind, so the network refuses its work. Resumes once the clock is set right.</source>
        <translation>Die Uhr dieses Computers geht {minutes} min nach, deshalb lehnt das Netzwerk seine Arbeit ab. Sobald sie richtig gestellt ist, geht es weiter.</translation>
    </message>
    <message>
        <source>no device is enabled. Turn one on in Hardware.</source>
        <translation>Kein Gerät ist eingeschaltet. Schalte unter Hardware eines ein.</translation>
    </message>
    <message>
        <source>{device} has too little memory for this run, which needs {wanted} GB. Raise its limit in Hardware, choose another run, or open a cell with others in your network (tequio cell host).</source>
        <translation>{device} hat zu wenig Speicher für diesen Lauf, der {wanted} GB braucht. Erhöhe das Limit unter Hardware, wähle einen anderen Lauf, oder öffne eine Zelle mit anderen in deinem Netz (tequio cell host).</translation>
    </message>
    <message>
        <source>only {free} GB of disk space are free, and {wanted} GB should stay free. Resumes when there is 1 GB more than that.</source>
        <translation>Nur {free} GB Speicherplatz sind frei, und {wanted} GB sollen frei bleiben. Weiter geht es, wenn es 1 GB mehr ist.</translation>
    </message>
    <message>
        <source>cannot tell how much disk is free. Check that the store's folder is there.</source>
        <translation>Wie viel Speicherplatz frei ist, lässt sich nicht feststellen. Prüfe, ob der Ordner des Speichers noch da ist.</translation>
    </message>
    <message>
        <source>the store holds {used} GB of at most {most} GB. Resumes when it has been trimmed; its limit is in Settings, Storage.</source>
        <translation>Der Speicher belegt {used} GB von höchstens {most} GB. Weiter geht es, wenn er verkleinert wurde; sein Limit steht unter Einstellungen, Speicher.</translation>
    </message>
    <message>
        <source>the computer runs on battery. Resumes on mains power.</source>
        <translation>Der Computer läuft mit Akku. Am Netzteil geht es weiter.</translation>
    </message>
    <message>
        <source>cannot tell whether the computer runs on battery. See Health in Activity, or allow lending on battery in Settings, When to lend.</source>
        <translation>Ob der Computer mit Akku läuft, lässt sich nicht feststellen. Siehe Zustand unter Aktivität, oder erlaube unter Einstellungen, Wann verleihen, das Verleihen im Akkubetrieb.</translation>
    </message>
    <message>
        <source>cannot tell whether the computer saves power. See Health in Activity, or allow that in Settings, When to lend.</source>
        <translation>Ob der Computer Energie spart, lässt sich nicht feststellen. Siehe Zustand unter Aktivität, oder erlaube es unter Einstellungen, Wann verleihen.</translation>
    </message>
    <message>
        <source>the hardware probe does not answer. Resumes when it does; see Health in Activity.</source>
        <translation>Die Hardwareüberwachung antwortet nicht. Sobald sie antwortet, geht es weiter; siehe Zustand unter Aktivität.</translation>
    </message>
    <message>
        <source>the hardware is being checked. Resumes in a moment.</source>
        <translation>Die Hardware wird geprüft. Gleich geht es weiter.</translation>
    </message>
    <message>
        <source>power saving is on. Resumes when it is turned off.</source>
        <translation>Das Energiesparen ist an. Sobald es aus ist, geht es weiter.</translation>
    </message>
    <message>
        <source>{device} is at {degrees} °C, above your limit of {limit} °C. Resumes when it is 5 °C below the limit.</source>
        <translation>{device} hat {degrees} °C, mehr als dein Limit von {limit} °C. Weiter geht es 5 °C unter dem Limit.</translation>
    </message>
    <message>
        <source>a game is running ({program}). Resumes 60 s after it closes.</source>
        <translation>Ein Spiel läuft ({program}). 60 s nach seinem Ende geht es weiter.</translation>
    </message>
    <message>
        <source>a game is fullscreen ({program}). Resumes 60 s after it closes.</source>
        <translation>Ein Spiel läuft im Vollbild ({program}). 60 s nach seinem Ende geht es weiter.</translation>
    </message>
    <message>
        <source>a film is fullscreen ({program}). Resumes 60 s after it closes.</source>
        <translation>Ein Film läuft im Vollbild ({program}). 60 s nach seinem Ende geht es weiter.</translation>
    </message>
    <message>
        <source>{program} is running, and you want nothing lent beside it. Resumes 60 s after it closes.</source>
        <translation>{program} läuft, und daneben soll nichts verliehen werden. 60 s nach dem Schließen geht es weiter.</translation>
    </message>
    <message>
        <source>a game or another exclusive program has just closed. Resumes {until}.</source>
        <translation>Ein Spiel oder ein anderes exklusives Programm wurde gerade geschlossen. Weiter geht es {until}.</translation>
    </message>
    <message>
        <source>outside the hours in which you lend. Resumes {until}.</source>
        <translation>außerhalb der Stunden, in denen du verleihst. Weiter geht es {until}.</translation>
    </message>
    <message>
        <source>no hour of the week is chosen. Choose some in Settings, When to lend.</source>
        <translation>Keine Stunde der Woche ist gewählt. Wähle welche unter Einstellungen, Wann verleihen.</translation>
    </message>
    <message>
        <source>this month's {gb} GB of traffic are used up. Resumes {until}.</source>
        <translation>Die {gb} GB Datenverkehr dieses Monats sind verbraucht. Weiter geht es {until}.</translation>
    </message>
    <message>
        <source>this network is metered. Resumes on another network.</source>
        <translation>Dieses Netzwerk ist getaktet. In einem anderen Netzwerk geht es weiter.</translation>
    </message>
    <message>
        <source>cannot tell whether this network is metered. See Health in Activity, or allow metered networks in Settings, Network.</source>
        <translation>Ob dieses Netzwerk getaktet ist, lässt sich nicht feststellen. Siehe Zustand unter Aktivität, oder erlaube getaktete Netzwerke unter Einstellungen, Netzwerk.</translation>
    </message>
    <message>
        <source>you are using the computer. Resumes after {minutes} min without input.</source>
        <translation>Du benutzt den Computer. Nach {minutes} min ohne Eingabe geht es weiter.</translation>
    </message>
    <message>
        <source>cannot tell whether you are away. See Health in Activity.</source>
        <translation>Ob du weg bist, lässt sich nicht feststellen. Siehe Zustand unter Aktivität.</translation>
    </message>
    <message>
        <source>cannot tell whether you are away: nothing is known of your session. Resumes when its probes answer; see Health in Activity.</source>
        <translation>Ob du weg bist, lässt sich nicht feststellen: Über deine Sitzung ist nichts bekannt. Sobald die Abfragen antworten, geht es weiter; siehe Zustand unter Aktivität.</translation>
    </message>
    <message>
        <source>cannot tell when you last touched the computer. Resumes when it is locked; see Health in Activity.</source>
        <translation>Wann du den Computer zuletzt benutzt hast, lässt sich nicht feststellen. Wenn er gesperrt ist, geht es weiter; siehe Zustand unter Aktivität.</translation>
    </message>
    <message>
        <source>cannot tell whether a program fills the screen. Resumes when the computer is locked; see Health in Activity, or switch off pausing for games in Settings, When to lend.</source>
        <translation>Ob ein Programm den Bildschirm füllt, lässt sich nicht feststellen. Wenn der Computer gesperrt ist, geht es weiter; siehe Zustand unter Aktivität, oder schalte unter Einstellungen, Wann verleihen, das Pausieren bei Spielen aus.</translation>
    </message>
    <message>
        <source>cannot tell whether a game is running. See Health in Activity, or switch off pausing for games in Settings, When to lend.</source>
        <translation>Ob ein Spiel läuft, lässt sich nicht feststellen. Siehe Zustand unter Aktivität, oder schalte unter Einstellungen, Wann verleihen, das Pausieren bei Spielen aus.</translation>
    </message>
    <message>
        <source>cannot tell whether one of your exclusive programs is running. See Health in Activity, or empty their list in Settings, When to lend.</source>
        <translation>Ob eines deiner exklusiven Programme läuft, lässt sich nicht feststellen. Siehe Zustand unter Aktivität, oder leere deren Liste unter Einstellungen, Wann verleihen.</translation>
    </message>
    <message>
        <source>another user is using this computer. Resumes when they have logged out.</source>
        <translation>Ein anderer Benutzer verwendet diesen Computer. Sobald er abgemeldet ist, geht es weiter.</translation>
    </message>
    <message>
        <source>other programs are using {percent}% of {device}. Resumes 60 s after they finish.</source>
        <translation>Andere Programme nutzen {percent} % von {device}. 60 s nach ihrem Ende geht es weiter.</translation>
    </message>
    <message>
        <source>other programs needed {device}. Resumes {until}.</source>
        <translation>Andere Programme haben {device} gebraucht. Weiter geht es {until}.</translation>
    </message>
    <message>
        <source>other programs are using {percent}% of your CPU. Resumes below {below}%.</source>
        <translation>Andere Programme nutzen {percent} % deiner CPU. Unter {below} % geht es weiter.</translation>
    </message>
    <message>
        <source>cannot tell how much CPU other programs use. See Health in Activity, or set that limit to 100% in Settings, When to lend.</source>
        <translation>Wie viel CPU andere Programme nutzen, lässt sich nicht feststellen. Siehe Zustand unter Aktivität, oder setze das Limit unter Einstellungen, Wann verleihen, auf 100 %.</translation>
    </message>
    <message>
        <source>{device} has {free} GB of memory free and training needs {wanted} GB. Resumes when other programs give it back.</source>
        <translation>{device} hat {free} GB Speicher frei, und das Training braucht {wanted} GB. Weiter geht es, wenn andere Programme ihn freigeben.</translation>
    </message>
    <message>
        <source>cannot tell what the graphics cards do: their probe does not answer. Resumes when it does; see Health in Activity.</source>
        <translation>Was die Grafikkarten tun, lässt sich nicht feststellen: Ihre Abfrage antwortet nicht. Sobald sie antwortet, geht es weiter; siehe Zustand unter Aktivität.</translation>
    </message>
    <message>
        <source>the graphics cards are being checked. Resumes in a moment.</source>
        <translation>Die Grafikkarten werden geprüft. Gleich geht es weiter.</translation>
    </message>
    <message>
        <source>cannot tell how busy other programs keep {device}. See Health in Activity, or set that limit to 100% in Settings, When to lend.</source>
        <translation>Wie stark andere Programme {device} auslasten, lässt sich nicht feststellen. Siehe Zustand unter Aktivität, oder setze das Limit unter Einstellungen, Wann verleihen, auf 100 %.</translation>
    </message>
    <message>
        <source>cannot tell how much memory of {device} is free. See Health in Activity.</source>
        <translation>Wie viel Speicher von {device} frei ist, lässt sich nicht feststellen. Siehe Zustand unter Aktivität.</translation>
    </message>
    <message>
        <source>training was slowed down: another program needs the device. Resumes {until}.</source>
        <translation>Das Training wurde gebremst: Ein anderes Programm braucht das Gerät. Weiter geht es {until}.</translation>
    </message>
    <message>
        <source>in {seconds} s</source>
        <translation>in {seconds} s</translation>
    </message>
    <message>
        <source>in {minutes} min</source>
        <translation>in {minutes} min</translation>
    </message>
    <message>
        <source>at {time}</source>
        <translation>um {time}</translation>
    </message>
    <message>
        <source>on {weekday} at {time}</source>
        <translation>am {weekday} um {time}</translation>
    </message>
    <message>
        <source>on {date} at {time}</source>
        <translation>am {date} um {time}</translation>
    </message>
    <message>
        <source>Started, version {version}.</source>
        <translation>Gestartet, Version {version}.</translation>
    </message>
    <message>
        <source>Your settings were changed.</source>
        <translation>Deine Einstellungen wurden geändert.</translation>
    </message>
    <message>
        <source>Joined the run {run}.</source>
        <translation>Dem Lauf {run} beigetreten.</translation>
    </message>
    <message>
        <source>Left the run {run}.</source>
        <translation>Den Lauf {run} verlassen.</translation>
    </message>
    <message>
        <source>The run {run} has ended.</source>
        <translation>Der Lauf {run} ist beendet.</translation>
    </message>
    <message>
        <source>{run}, round {round}: your work was accepted, for {points} points.</source>
        <translation>{run}, Runde {round}: Deine Arbeit wurde angenommen und bringt {points} Punkte.</translation>
    </message>
    <message>
        <source>{run}, round {round}: {points} points for checking others' work.</source>
        <translation>{run}, Runde {round}: {points} Punkte für das Prüfen der Arbeit anderer.</translation>
    </message>
    <message>
        <source>{run}, round {round}: {points} points that another key shared with yours.</source>
        <translation>{run}, Runde {round}: {points} Punkte, die ein anderer Schlüssel mit deinem geteilt hat.</translation>
    </message>
    <message>
        <source>{run}, round {round}: you were not asked to do anything that earns points.</source>
        <translation>{run}, Runde {round}: Von dir war nichts verlangt, was Punkte bringt.</translation>
    </message>
    <message>
        <source>{run}, round {round}: too few witnesses received your work in time. This does not count against you.</source>
        <translation>{run}, Runde {round}: Zu wenige Zeugen haben deine Arbeit rechtzeitig erhalten. Das wird dir nicht angelastet.</translation>
    </message>
    <message>
        <source>{run}, round {round}: the round ended without your work.</source>
        <translation>{run}, Runde {round}: Die Runde endete ohne deine Arbeit.</translation>
    </message>
    <message>
        <source>{run}, round {round}: the round is void, and its work is assigned again.</source>
        <translation>{run}, Runde {round}: Die Runde ist ungültig, und ihre Arbeit wird neu verteilt.</translation>
    </message>
    <message>
        <source>{run}, round {round}: the witnesses refused your work ({reason}).</source>
        <translation>{run}, Runde {round}: Die Zeugen haben deine Arbeit abgelehnt ({reason}).</translation>
    </message>
    <message>
        <source>{run}, round {round}: {points} points for repeating another volunteer's work of round {audited}.</source>
        <translation>{run}, Runde {round}: {points} Punkte für das Wiederholen der Arbeit eines anderen Freiwilligen aus Runde {audited}.</translation>
    </message>
    <message>
        <source>{run}, round {round}: the round ended without your audit.</source>
        <translation>{run}, Runde {round}: Die Runde endete ohne deine Nachprüfung.</translation>
    </message>
    <message>
        <source>You were chosen to repeat another volunteer's work of round {round}. This computer could not: {declined}. You are not asked again for a while; your training goes on.</source>
        <translation>Du wurdest ausgewählt, die Arbeit eines anderen Freiwilligen aus Runde {round} zu wiederholen. Dieser Computer konnte es nicht: {declined}. Du wirst eine Weile nicht mehr gefragt; dein Training geht weiter.</translation>
    </message>
    <message>
        <source>Another volunteer repeated your work of round {round}. It counts, but the results differ slightly more than usual. Unusual hardware can cause this. To be sure, measure your device again in Hardware.</source>
        <translation>Ein anderer Freiwilliger hat deine Arbeit aus Runde {round} wiederholt. Sie zählt, aber die Ergebnisse weichen etwas mehr ab als üblich. Ungewöhnliche Hardware kann die Ursache sein. Miss dein Gerät zur Sicherheit unter Hardware noch einmal.</translation>
    </message>
    <message>
        <source>Your key is now {standing}. Other volunteers repeated the same work in an audit and got other results than you. Often the computer is at fault: measure its device again in Hardware, update the graphics driver, and test the memory (RAM). If that finds nothing, you can appeal in Settings, Account and keys.</source>
        <translation>Dein Schlüssel ist jetzt {standing}. Andere Freiwillige haben dieselbe Arbeit bei einer Nachprüfung wiederholt und andere Ergebnisse bekommen als du. Oft liegt es am Computer: Miss sein Gerät unter Hardware noch einmal, aktualisiere den Grafiktreiber und teste den Arbeitsspeicher (RAM). Wenn dabei nichts herauskommt, kannst du unter Einstellungen, Konto und Schlüssel, Einspruch einlegen.</translation>
    </message>
    <message>
        <source>The ledger says that you have {ledger} points, but its log proves {proven}. What is not proven is not counted here.</source>
        <translation>Laut Register hast du {ledger} Punkte, aber sein Protokoll beweist {proven}. Was nicht bewiesen ist, zählt hier nicht.</translation>
    </message>
    <message>
        <source>{run}: downloaded and verified the model from round {round}.</source>
        <translation>{run}: Das Modell aus Runde {round} wurde heruntergeladen und geprüft.</translation>
    </message>
    <message>
        <source>Your key is now {standing}.</source>
        <translation>Dein Schlüssel ist jetzt {standing}.</translation>
    </message>
    <message>
        <source>Your key is now {standing}. Reason: {cause}. If that is wrong, you can appeal in Settings, Account and keys.</source>
        <translation>Dein Schlüssel ist jetzt {standing}. Grund: {cause}. Wenn das nicht stimmt, kannst du unter Einstellungen, Konto und Schlüssel, Einspruch einlegen.</translation>
    </message>
    <message>
        <source>The network cannot be reached. Work goes on without it for a while.</source>
        <translation>Das Netzwerk ist nicht erreichbar. Die Arbeit geht eine Weile ohne es weiter.</translation>
    </message>
    <message>
        <source>The ledger can be reached again.</source>
        <translation>Das Register ist wieder erreichbar.</translation>
    </message>
    <message>
        <source>The ledger shows another log than before ({problem}). Its answers are no longer trusted.</source>
        <translation>Das Register zeigt ein anderes Protokoll als zuvor ({problem}). Seinen Antworten wird nicht mehr vertraut.</translation>
    </message>
    <message>
        <source>The training program stopped unexpectedly and was restarted.</source>
        <translation>Das Trainingsprogramm wurde unerwartet beendet und neu gestartet.</translation>
    </message>
    <message>
        <source>A file was damaged or belongs to another program. It was kept as {file}, and a new one was started.</source>
        <translation>Eine Datei war beschädigt oder gehört zu einem anderen Programm. Sie liegt jetzt in {file}, und eine neue wurde angelegt.</translation>
    </message>
    <message>
        <source>This computer's clock was changed by {seconds} s.</source>
        <translation>Die Uhr dieses Computers wurde um {seconds} s verstellt.</translation>
    </message>
    <message>
        <source>It is not known yet whether other computers can connect to this one.</source>
        <translation>Es ist noch nicht bekannt, ob andere Computer sich mit diesem verbinden können.</translation>
    </message>
    <message>
        <source>Other computers can connect to this one.</source>
        <translation>Andere Computer können sich mit diesem verbinden.</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, because your router is in between. Nothing is lost: your work travels through seeds. To change it, let Tequio open a port on the router in Settings, Network, or forward TCP port {port} to this computer there.</source>
        <translation>Andere Computer können sich nicht mit diesem verbinden, weil dein Router dazwischen ist. Es geht nichts verloren: Deine Arbeit nimmt den Weg über Seeds. Um das zu ändern, lass Tequio unter Einstellungen, Netzwerk, einen Port am Router öffnen oder leite dort den TCP-Port {port} an diesen Computer weiter.</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, probably because of a firewall. Nothing is lost: your work travels through seeds. To change it, allow incoming connections to TCP port {port}.</source>
        <translation>Andere Computer können sich nicht mit diesem verbinden, vermutlich wegen einer Firewall. Es geht nichts verloren: Deine Arbeit nimmt den Weg über Seeds. Um das zu ändern, erlaube eingehende Verbindungen zum TCP-Port {port}.</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one yet. Tequio is asking your router to open a port.</source>
        <translation>Andere Computer können sich noch nicht mit diesem verbinden. Tequio bittet deinen Router gerade, einen Port zu öffnen.</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, although your router has opened a port: another router or a firewall is in between. Nothing is lost: your work travels through seeds.</source>
        <translation>Andere Computer können sich nicht mit diesem verbinden, obwohl dein Router einen Port geöffnet hat: Ein weiterer Router oder eine Firewall ist dazwischen. Es geht nichts verloren: Deine Arbeit nimmt den Weg über Seeds.</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, and no router answers by UPnP or NAT-PMP. Nothing is lost: your work travels through seeds. To change it, switch UPnP on in your router, or forward TCP port {port} to this computer there.</source>
        <translation>Andere Computer können sich nicht mit diesem verbinden, und kein Router antwortet per UPnP oder NAT-PMP. Es geht nichts verloren: Deine Arbeit nimmt den Weg über Seeds. Um das zu ändern, schalte UPnP in deinem Router ein oder leite dort den TCP-Port {port} an diesen Computer weiter.</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, and your router refused to open a port ({problem}). Nothing is lost: your work travels through seeds. To change it, forward TCP port {port} to this computer in your router.</source>
        <translation>Andere Computer können sich nicht mit diesem verbinden, und dein Router hat sich geweigert, einen Port zu öffnen ({problem}). Es geht nichts verloren: Deine Arbeit nimmt den Weg über Seeds. Um das zu ändern, leite in deinem Router den TCP-Port {port} an diesen Computer weiter.</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, because your router is behind another one: your provider's, or your building's. Nothing is lost: your work travels through seeds. Only your provider can change it, with a public address.</source>
        <translation>Andere Computer können sich nicht mit diesem verbinden, weil dein Router hinter einem anderen ist: dem deines Anbieters oder dem deines Gebäudes. Es geht nichts verloren: Deine Arbeit nimmt den Weg über Seeds. Nur dein Anbieter kann das ändern, mit einer öffentlichen Adresse.</translation>
    </message>
    <message>
        <source>Other members can still connect directly, when a seed introduces you to each other.</source>
        <translation>Andere Mitglieder können sich trotzdem direkt verbinden, wenn ein Seed euch einander vorstellt.</translation>
    </message>
    <message>
        <source>Seeds cannot introduce you to other members, because your router gives each connection another port.</source>
        <translation>Seeds können dich anderen Mitgliedern nicht vorstellen, weil dein Router jeder Verbindung einen anderen Port gibt.</translation>
    </message>
    <message>
        <source>An event that this version does not know ({code}).</source>
        <translation>Ein Ereignis, das diese Version nicht kennt ({code}).</translation>
    </message>
    <message>
        <source>for a reason that this version does not know ({reason})</source>
        <translation>aus einem Grund, den diese Version nicht kennt ({reason})</translation>
    </message>
    <message>
        <source>Pending</source>
        <translation>Ausstehend</translation>
    </message>
    <message>
        <source>Verified</source>
        <translation>Verifiziert</translation>
    </message>
    <message>
        <source>Rejected</source>
        <translation>Abgelehnt</translation>
    </message>
    <message>
        <source>the round is void; its work is assigned again</source>
        <translation>die Runde ist ungültig; ihre Arbeit wird neu verteilt</translation>
    </message>
    <message>
        <source>the round ended without your work</source>
        <translation>die Runde endete ohne deine Arbeit</translation>
    </message>
    <message>
        <source>too few witnesses received your work in time; this does not count against you</source>
        <translation>zu wenige Zeugen haben deine Arbeit rechtzeitig erhalten; das wird dir nicht angelastet</translation>
    </message>
    <message>
        <source>you were not asked to do anything that earns points</source>
        <translation>von dir war nichts verlangt, was Punkte bringt</translation>
    </message>
    <message>
        <source>the round ended without your audit</source>
        <translation>die Runde endete ohne deine Nachprüfung</translation>
    </message>
    <message>
        <source>the witnesses gave no reason</source>
        <translation>die Zeugen nannten keinen Grund</translation>
    </message>
    <message>
        <source>the contribution had the wrong length</source>
        <translation>der Beitrag hatte die falsche Länge</translation>
    </message>
    <message>
        <source>the contribution was not in the right format</source>
        <translation>der Beitrag hatte nicht das richtige Format</translation>
    </message>
    <message>
        <source>the contribution was in a format of another version</source>
        <translation>der Beitrag hatte das Format einer anderen Version</translation>
    </message>
    <message>
        <source>the contribution did not have the shape of the model</source>
        <translation>der Beitrag hatte nicht die Form des Modells</translation>
    </message>
    <message>
        <source>the contribution had marks that are not allowed</source>
        <translation>der Beitrag enthielt unerlaubte Markierungen</translation>
    </message>
    <message>
        <source>the contribution was for another run</source>
        <translation>der Beitrag war für einen anderen Lauf</translation>
    </message>
    <message>
        <source>the contribution was for another round</source>
        <translation>der Beitrag war für eine andere Runde</translation>
    </message>
    <message>
        <source>the work began from another version of the model</source>
        <translation>die Arbeit ging von einem anderen Stand des Modells aus</translation>
    </message>
    <message>
        <source>the contribution named another trainer</source>
        <translation>der Beitrag nannte einen anderen Trainer</translation>
    </message>
    <message>
        <source>the work used other text than was given out</source>
        <translation>die Arbeit benutzte anderen Text als den zugeteilten</translation>
    </message>
    <message>
        <source>the number of tokens was not what was given out</source>
        <translation>die Zahl der Token war nicht die zugeteilte</translation>
    </message>
    <message>
        <source>the number of steps was not what was given out</source>
        <translation>die Zahl der Schritte war nicht die zugeteilte</translation>
    </message>
    <message>
        <source>the bytes were not those that were promised</source>
        <translation>die Bytes waren nicht die zugesagten</translation>
    </message>
    <message>
        <source>a scale in the contribution was not allowed</source>
        <translation>ein Skalierungswert im Beitrag war nicht erlaubt</translation>
    </message>
    <message>
        <source>the contribution had something where there must be nothing</source>
        <translation>der Beitrag enthielt etwas, wo nichts sein darf</translation>
    </message>
    <message>
        <source>a block of the contribution had too many or too few values</source>
        <translation>ein Block des Beitrags hatte zu viele oder zu wenige Werte</translation>
    </message>
    <message>
        <source>the contribution named a place outside of the model</source>
        <translation>der Beitrag nannte eine Stelle außerhalb des Modells</translation>
    </message>
    <message>
        <source>the places in the contribution were out of order</source>
        <translation>die Stellen im Beitrag waren nicht in der richtigen Reihenfolge</translation>
    </message>
    <message>
        <source>a value in the contribution was not allowed</source>
        <translation>ein Wert im Beitrag war nicht erlaubt</translation>
    </message>
    <message>
        <source>the contribution was empty</source>
        <translation>der Beitrag war leer</translation>
    </message>
    <message>
        <source>the commitment was made without the contribution</source>
        <translation>die Festlegung erfolgte ohne den Beitrag</translation>
    </message>
    <message>
        <source>the contribution was far larger than the others</source>
        <translation>der Beitrag war weit größer als die anderen</translation>
    </message>
    <message>
        <source>the contribution pointed away from what the witnesses measured themselves</source>
        <translation>der Beitrag wich in seiner Richtung von dem ab, was die Zeugen selbst gemessen haben</translation>
    </message>
    <message>
        <source>the contribution was nearly the same as an earlier one</source>
        <translation>der Beitrag war fast derselbe wie ein früherer</translation>
    </message>
    <message>
        <source>new</source>
        <translation>neu</translation>
    </message>
    <message>
        <source>active</source>
        <translation>aktiv</translation>
    </message>
    <message>
        <source>under watch, and trains on as before</source>
        <translation>unter Beobachtung und trainiert weiter wie bisher</translation>
    </message>
    <message>
        <source>quarantined: it serves the swarm, and does not train until that is over</source>
        <translation>in Quarantäne: Bis sie vorbei ist, dient er dem Schwarm und trainiert nicht</translation>
    </message>
    <message>
        <source>on probation, and trains again</source>
        <translation>auf Bewährung und trainiert wieder</translation>
    </message>
    <message>
        <source>banned, and in no roster any more</source>
        <translation>gesperrt und in keiner Teilnehmerliste mehr</translation>
    </message>
    <message>
        <source>revoked: it can do nothing more</source>
        <translation>widerrufen: Er kann nichts mehr tun</translation>
    </message>
    <message>
        <source>replaced by another key, and can do nothing more</source>
        <translation>durch einen anderen Schlüssel ersetzt und kann nichts mehr tun</translation>
    </message>
    <message>
        <source>enough contributions were accepted</source>
        <translation>genug Beiträge wurden angenommen</translation>
    </message>
    <message>
        <source>signed two different commitments for one round</source>
        <translation>zwei verschiedene Festlegungen für eine Runde unterschrieben</translation>
    </message>
    <message>
        <source>signed two different statements under one number</source>
        <translation>zwei verschiedene Erklärungen unter einer Nummer unterschrieben</translation>
    </message>
    <message>
        <source>signed a contribution header that breaks a rule</source>
        <translation>den Kopf eines Beitrags unterschrieben, der gegen eine Regel verstößt</translation>
    </message>
    <message>
        <source>committed to bytes that break a rule</source>
        <translation>sich auf Bytes festgelegt, die gegen eine Regel verstoßen</translation>
    </message>
    <message>
        <source>signed a witness proof without having been elected</source>
        <translation>einen Zeugenbeweis unterschrieben, ohne gewählt zu sein</translation>
    </message>
    <message>
        <source>signed an invalid witness proof</source>
        <translation>einen ungültigen Zeugenbeweis unterschrieben</translation>
    </message>
    <message>
        <source>vouched for a contribution without having its bytes</source>
        <translation>für einen Beitrag gebürgt, ohne seine Bytes zu haben</translation>
    </message>
    <message>
        <source>a contribution was far from the others, according to two witnesses</source>
        <translation>ein Beitrag lag laut zwei Zeugen weit von den anderen entfernt</translation>
    </message>
    <message>
        <source>witness proofs were contradicted by the other witnesses</source>
        <translation>andere Zeugen haben Zeugenbeweisen widersprochen</translation>
    </message>
    <message>
        <source>the term of a quarantine is over</source>
        <translation>die Zeit einer Quarantäne ist um</translation>
    </message>
    <message>
        <source>no organiser answered an appeal in time</source>
        <translation>kein Organisator hat rechtzeitig auf einen Einspruch geantwortet</translation>
    </message>
    <message>
        <source>accused somebody of a fault that the evidence does not show</source>
        <translation>jemanden eines Verstoßes beschuldigt, den der Beleg nicht zeigt</translation>
    </message>
    <message>
        <source>a contribution was not the training that it claimed, as its auditors agree</source>
        <translation>ein Beitrag war nicht das Training, das er zu sein behauptete; darin sind sich die Nachprüfer einig</translation>
    </message>
    <message>
        <source>an audit was contradicted by the other auditors</source>
        <translation>andere Nachprüfer haben einer Nachprüfung widersprochen</translation>
    </message>
    <message>
        <source>further audits were contradicted by the other auditors</source>
        <translation>andere Nachprüfer haben weiteren Nachprüfungen widersprochen</translation>
    </message>
    <message>
        <source>was there, and did not open contributions to their auditors</source>
        <translation>war da und hat seinen Nachprüfern Beiträge nicht offengelegt</translation>
    </message>
    <message>
        <source>contributions did not help more on their own windows than on others, according to the witnesses of many rounds</source>
        <translation>Beiträge halfen laut den Zeugen vieler Runden in den eigenen Datenfenstern nicht mehr als in anderen</translation>
    </message>
    <message>
        <source>it was not in the run in that round</source>
        <translation>er war in dieser Runde nicht im Lauf</translation>
    </message>
    <message>
        <source>it has not read an earlier audit of that work</source>
        <translation>er hat eine frühere Nachprüfung dieser Arbeit nicht gelesen</translation>
    </message>
    <message>
        <source>it no longer has the model of that round, or its copy is damaged</source>
        <translation>er hat das Modell dieser Runde nicht mehr, oder seine Kopie ist beschädigt</translation>
    </message>
    <message>
        <source>the data did not arrive in time</source>
        <translation>die Daten kamen nicht rechtzeitig an</translation>
    </message>
    <message>
        <source>the training program could not repeat it</source>
        <translation>das Trainingsprogramm konnte sie nicht wiederholen</translation>
    </message>
    <message>
        <source>the disk could not be written</source>
        <translation>auf das Laufwerk konnte nicht geschrieben werden</translation>
    </message>
    <message>
        <source>Auditing</source>
        <translation>Prüft nach</translation>
    </message>
    <message>
        <source>Repeating another volunteer's work of round {round}. You are paid as for training.</source>
        <translation>Wiederholt die Arbeit eines anderen Freiwilligen aus Runde {round}. Das wird wie Training bezahlt.</translation>
    </message>
</context>
</TS>
