<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="fr">
<context>
    <name>ActivityPage</name>
    <message>
        <source>View</source>
        <translation>Affichage</translation>
    </message>
    <message>
        <source>Timeline</source>
        <translation>Chronologie</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>Journal</translation>
    </message>
    <message>
        <source>Health</source>
        <translation>État</translation>
    </message>
    <message>
        <source>What happened here, newest first. It is kept on this computer only.</source>
        <translation>Ce qui s’est passé ici, du plus récent au plus ancien. Rien ne quitte cet ordinateur.</translation>
    </message>
    <message>
        <source>Activity</source>
        <translation>Activité</translation>
    </message>
</context>
<context>
    <name>AnyRow</name>
    <message>
        <source>Chosen</source>
        <translation>Choisi</translation>
    </message>
    <message>
        <source>Choose for me</source>
        <translation>Choisir pour moi</translation>
    </message>
    <message>
        <source>A run that fits, with places free</source>
        <translation>Un entraînement adapté et ouvert</translation>
    </message>
</context>
<context>
    <name>AppCompetitionsPage</name>
    <message>
        <source>Runs compete on unseen text.</source>
        <translation>Les entraînements se mesurent sur des textes inconnus.</translation>
    </message>
    <message>
        <source>Competitions</source>
        <translation>Compétitions</translation>
    </message>
    <message>
        <source>Join this run</source>
        <translation>Rejoindre cet entraînement</translation>
    </message>
    <message>
        <source>Stay on this run</source>
        <translation>Rester dans cet entraînement</translation>
    </message>
    <message>
        <source>Runs compete on unseen text. Updated {ago}.</source>
        <translation>Les entraînements se mesurent sur des textes inconnus. Liste lue {ago}.</translation>
    </message>
    <message>
        <source>{problem}. Tequio will keep trying.</source>
        <translation>{problem}. Tequio continue d’essayer.</translation>
    </message>
    <message>
        <source>Couldn't load the list</source>
        <translation>Impossible de charger la liste</translation>
    </message>
    <message>
        <source>No competition yet</source>
        <translation>Pas encore de compétition</translation>
    </message>
    <message>
        <source>Organisers open one so that runs can be compared. It'll appear here, and you'll be notified.</source>
        <translation>Les organisateurs en ouvrent pour comparer des entraînements. Elles apparaîtront ici, et vous serez averti.</translation>
    </message>
    <message>
        <source>Looking for competitions</source>
        <translation>Recherche de compétitions</translation>
    </message>
    <message>
        <source>Asking the network which competitions there are.</source>
        <translation>On demande au registre quelles compétitions existent.</translation>
    </message>
</context>
<context>
    <name>AppModel</name>
    <message>
        <source>The network does not answer</source>
        <translation>Le réseau ne répond pas</translation>
    </message>
    <message>
        <source>The network does not answer. It may still accept the request later</source>
        <translation>Le réseau ne répond pas. Il peut encore accepter la demande plus tard</translation>
    </message>
</context>
<context>
    <name>AppealControl</name>
    <message>
        <source>Appeal…</source>
        <translation>Recours…</translation>
    </message>
    <message>
        <source>Your appeal is in log entry {entry} and waits for the organisers.</source>
        <translation>Votre recours est l’entrée {entry} du journal et attend les organisateurs.</translation>
    </message>
    <message>
        <source>Restricted by log entry {entry}: {why}.</source>
        <translation>Restreinte par l’entrée {entry} du journal : {why}.</translation>
    </message>
</context>
<context>
    <name>AppealDialog</name>
    <message>
        <source>Appeal</source>
        <translation>Recours</translation>
    </message>
    <message>
        <source>An organiser reviews what your key is accused of. You can appeal once a day. If nobody answers within 14 days, a quarantine turns into probation.</source>
        <translation>Un organisateur examine ce qui est reproché à votre clé. Vous pouvez déposer un recours par jour. Si personne ne répond sous 14 jours, une quarantaine devient une mise à l’épreuve.</translation>
    </message>
    <message>
        <source>Send the appeal</source>
        <translation>Envoyer le recours</translation>
    </message>
    <message>
        <source>What happened (optional)</source>
        <translation>Ce qui s’est passé (facultatif)</translation>
    </message>
    <message>
        <source>The text is public and permanent: no names, addresses or passwords.</source>
        <translation>Le texte est public et définitif : ni noms, ni adresses, ni mots de passe.</translation>
    </message>
    <message>
        <source>The text has {length} bytes, at most {most} are allowed: shorten it.</source>
        <translation>Le texte fait {length} octets, {most} au plus sont permis : raccourcissez-le.</translation>
    </message>
</context>
<context>
    <name>AuditNotice</name>
    <message>
        <source>Another volunteer repeated your work of round {round}, and the results differ slightly more than usual. Your work counts, and you lose nothing. Unusual hardware, overclocking or an old driver can cause this; measuring the device shows whether it works as fast as before.</source>
        <translation>Un autre volontaire a refait votre travail de la manche {round}, et les résultats diffèrent un peu plus que d’habitude. Votre travail compte, et vous ne perdez rien. Un matériel inhabituel, un surcadençage ou un pilote ancien peuvent en être la cause ; une mesure de l’appareil montre s’il est toujours aussi rapide.</translation>
    </message>
    <message>
        <source>Pause to measure</source>
        <translation>Mettre en pause pour mesurer</translation>
    </message>
    <message>
        <source>Measure again</source>
        <translation>Mesurer à nouveau</translation>
    </message>
</context>
<context>
    <name>BackupDialog</name>
    <message>
        <source>Back up your key</source>
        <translation>Sauvegardez votre clé</translation>
    </message>
    <message>
        <source>Anyone with this key has your points. If this disk fails, only a backup helps.</source>
        <translation>Qui détient cette clé détient vos points. Si ce disque tombe en panne, seule une sauvegarde vous aidera.</translation>
    </message>
    <message>
        <source>Kind of backup</source>
        <translation>Type de sauvegarde</translation>
    </message>
    <message>
        <source>24 words</source>
        <translation>24 mots</translation>
    </message>
    <message>
        <source>A file</source>
        <translation>Un fichier</translation>
    </message>
    <message>
        <source>The file is sealed under a passphrase. Keep the two in different places, away from this computer.</source>
        <translation>Le fichier est chiffré par une phrase secrète. Gardez les deux à des endroits différents, loin de cet ordinateur.</translation>
    </message>
    <message>
        <source>Save the file…</source>
        <translation>Enregistrer le fichier…</translation>
    </message>
    <message>
        <source>Show the words</source>
        <translation>Afficher les mots</translation>
    </message>
    <message>
        <source>I have written them down</source>
        <translation>Je les ai notés</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>Terminé</translation>
    </message>
    <message>
        <source>Save the backup</source>
        <translation>Enregistrer la sauvegarde</translation>
    </message>
</context>
<context>
    <name>BackupSource</name>
    <message>
        <source>Kind of backup</source>
        <translation>Type de sauvegarde</translation>
    </message>
    <message>
        <source>24 words</source>
        <translation>24 mots</translation>
    </message>
    <message>
        <source>A file</source>
        <translation>Un fichier</translation>
    </message>
    <message>
        <source>The 24 words, in their order</source>
        <translation>Les 24 mots, dans l’ordre</translation>
    </message>
    <message>
        <source>Choose the file…</source>
        <translation>Choisir le fichier…</translation>
    </message>
    <message>
        <source>Choose the backup</source>
        <translation>Choisir la sauvegarde</translation>
    </message>
</context>
<context>
    <name>BackupWordsPane</name>
    <message>
        <source>Word {number}</source>
        <translation>Mot {number}</translation>
    </message>
    <message>
        <source>To check what you wrote, type two of the words.</source>
        <translation>Pour vérifier que votre copie papier est juste, saisissez deux de ses mots.</translation>
    </message>
    <message>
        <source>Word {number} does not match. Look at the paper again.</source>
        <translation>Le mot {number} n’est pas celui-là. Regardez à nouveau votre papier.</translation>
    </message>
    <message>
        <source>Write them on paper in this order: no photo, no cloud. Nobody from Tequio will ever ask for them.</source>
        <translation>Notez-les sur papier, dans cet ordre : pas de photo, pas de cloud. Personne chez Tequio ne vous les demandera jamais.</translation>
    </message>
</context>
<context>
    <name>BadgesCard</name>
    <message>
        <source>Badges</source>
        <translation>Badges</translation>
    </message>
    <message>
        <source>Each badge opens the entry of the public log that proves it.</source>
        <translation>Chaque badge ouvre l’entrée du journal public qui le prouve.</translation>
    </message>
    <message numerus="yes">
        <source>Current streak: %n day(s) in a row with accepted work.</source>
        <translation>
            <numerusform>Série en cours : %n jour avec du travail accepté.</numerusform>
            <numerusform>Série en cours : %n jours de suite avec du travail accepté.</numerusform>
        </translation>
    </message>
    <message>
        <source>No accepted work today (UTC) yet.</source>
        <translation>Il manque encore la journée d’aujourd’hui (UTC).</translation>
    </message>
    <message>
        <source>No streak: no work was accepted lately.</source>
        <translation>Aucune série : aucun travail n’a été accepté récemment.</translation>
    </message>
    <message>
        <source>Next badge: {badge}, {reached} of {needed}</source>
        <translation>Prochain badge : {badge}, {reached} sur {needed}</translation>
    </message>
    <message>
        <source>First round</source>
        <translation>Première manche</translation>
    </message>
    <message>
        <source>A round accepted work of this key for the first time.</source>
        <translation>Une manche a accepté le travail de cette clé pour la première fois.</translation>
    </message>
    <message>
        <source>{n} rounds</source>
        <translation>{n} manches</translation>
    </message>
    <message>
        <source>{n} rounds accepted work of this key.</source>
        <translation>{n} manches ont accepté le travail de cette clé.</translation>
    </message>
    <message>
        <source>{n} days in a row</source>
        <translation>{n} jours d’affilée</translation>
    </message>
    <message>
        <source>Work was accepted on {n} days in a row.</source>
        <translation>Du travail a été accepté {n} jours de suite.</translation>
    </message>
    <message>
        <source>1 EFLOP</source>
        <translation>1 EFLOP</translation>
    </message>
    <message>
        <source>This key did 10^18 calculations, which are 100,000 points.</source>
        <translation>Cette clé a fait 10^18 calculs, soit 100 000 points.</translation>
    </message>
    <message>
        <source>First audit</source>
        <translation>Premier audit</translation>
    </message>
    <message>
        <source>This key repeated another volunteer's work to check it.</source>
        <translation>Cette clé a refait le travail d’un autre volontaire pour le vérifier.</translation>
    </message>
    <message>
        <source>Measured a model</source>
        <translation>Modèle mesuré</translation>
    </message>
    <message>
        <source>This key measured how good a model is, on text that nobody trains on.</source>
        <translation>Cette clé a mesuré la qualité d’un modèle, sur un texte qui ne sert à aucun entraînement.</translation>
    </message>
    <message>
        <source>Judged a competition</source>
        <translation>Jury d’une compétition</translation>
    </message>
    <message>
        <source>This key scored a model in a competition.</source>
        <translation>Cette clé a noté un modèle dans une compétition.</translation>
    </message>
</context>
<context>
    <name>BenchmarkRow</name>
    <message>
        <source>Benchmark</source>
        <translation>Test de vitesse</translation>
    </message>
    <message>
        <source>Measure</source>
        <translation>Mesurer</translation>
    </message>
    <message>
        <source>Measure again</source>
        <translation>Mesurer à nouveau</translation>
    </message>
    <message>
        <source>Measuring</source>
        <translation>Mesure en cours</translation>
    </message>
    <message>
        <source>Trains a small model for a few seconds.</source>
        <translation>Entraîne un petit modèle pendant quelques secondes.</translation>
    </message>
    <message>
        <source>Not measured: {why}.</source>
        <translation>Non mesuré : {why}.</translation>
    </message>
    <message>
        <source>Trains a small model for a few seconds and says how fast this device is.</source>
        <translation>Entraîne un petit modèle pendant quelques secondes et indique la vitesse de cet appareil.</translation>
    </message>
    <message>
        <source>Switch the device off first to get a meaningful result.</source>
        <translation>Désactivez d’abord l’appareil pour obtenir un résultat fiable.</translation>
    </message>
    <message>
        <source>{tokens} tokens per second</source>
        <translation>{tokens} tokens par seconde</translation>
    </message>
    <message>
        <source>{memory} of memory</source>
        <translation>{memory} de mémoire</translation>
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
        <translation>Le réseau n’a pas d’image de cette page ({problem}). Copiez plutôt le lien.</translation>
    </message>
    <message>
        <source>The picture could not be fetched ({problem}). Check your connection, and try again.</source>
        <translation>L’image n’a pas pu être récupérée ({problem}). Vérifiez votre connexion, puis réessayez.</translation>
    </message>
    <message>
        <source>{file} was not written: {why}. Choose another place, or try again.</source>
        <translation>{file} n’a pas été écrit : {why}. Choisissez un autre emplacement, ou réessayez.</translation>
    </message>
</context>
<context>
    <name>ChatCard</name>
    <message>
        <source>Try the model</source>
        <translation>Essayer le modèle</translation>
    </message>
    <message>
        <source>What you and the model wrote</source>
        <translation>Ce que vous et le modèle avez écrit</translation>
    </message>
    <message>
        <source>The newest model answers here if it was trained on conversations, and otherwise continues what you write. Early in a run that is gibberish; it improves round by round. Its words are generated; they are not anyone's opinion.</source>
        <translation>Le modèle le plus récent répond ici s’il a été entraîné sur des conversations ; sinon, il continue ce que vous écrivez. Au début d’un entraînement, c’est du charabia ; il s’améliore de manche en manche. Ses mots sont générés ; ce n’est l’opinion de personne.</translation>
    </message>
    <message>
        <source>Preparing the model</source>
        <translation>Préparation du modèle</translation>
    </message>
    <message>
        <source>Your text</source>
        <translation>Votre texte</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>Envoyer</translation>
    </message>
    <message>
        <source>New conversation</source>
        <translation>Nouvelle conversation</translation>
    </message>
    <message>
        <source>The model needs what training needs, which is not installed yet.</source>
        <translation>Le modèle a besoin de ce qu’il faut pour entraîner, qui n’est pas encore installé.</translation>
    </message>
    <message>
        <source>{program} has priority now. The model can answer once it is closed.</source>
        <translation>{program} a la priorité en ce moment. Le modèle pourra répondre une fois ce programme fermé.</translation>
    </message>
    <message>
        <source>The newest model is not on this computer yet. It comes with the next round that you take part in, or you download it now.</source>
        <translation>Le modèle le plus récent n’est pas encore sur cet ordinateur. Il arrive avec la prochaine manche à laquelle vous participez, ou vous le téléchargez maintenant.</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>Télécharger</translation>
    </message>
    <message>
        <source>There is not enough memory: the model needs about {needed}, and {free} are free. Close other programs, then try again.</source>
        <translation>La mémoire ne suffit pas : le modèle a besoin d’environ {needed}, et {free} sont libres. Fermez d’autres programmes, puis réessayez.</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Réessayer</translation>
    </message>
    <message>
        <source>The model could not be started, or stopped working.</source>
        <translation>Le modèle n’a pas pu démarrer, ou a cessé de fonctionner.</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Arrêter</translation>
    </message>
    <message>
        <source>Ask something, or begin a text</source>
        <translation>Posez une question ou commencez un texte</translation>
    </message>
    <message>
        <source>Ask something</source>
        <translation>Posez une question</translation>
    </message>
    <message>
        <source>Begin a text</source>
        <translation>Commencez un texte</translation>
    </message>
    <message>
        <source>Downloading the newest model: {done} of {total}</source>
        <translation>Téléchargement du modèle le plus récent : {done} sur {total}</translation>
    </message>
    <message>
        <source>Preparing the newest model, checked against the public log…</source>
        <translation>Préparation du modèle le plus récent, vérifié avec le journal public…</translation>
    </message>
    <message>
        <source>The model of round {number} runs on this computer's processor.</source>
        <translation>Le modèle de la manche {number} tourne sur le processeur de cet ordinateur.</translation>
    </message>
    <message>
        <source>The model of round {number} runs on this computer's processor, slower while it also trains.</source>
        <translation>Le modèle de la manche {number} tourne sur le processeur de cet ordinateur, plus lentement tant qu’il entraîne aussi.</translation>
    </message>
    <message>
        <source>The model is closed. Your next question starts it again; it will not remember this conversation.</source>
        <translation>Le modèle est fermé. Votre prochaine question le relance ; il ne se souviendra pas de cette conversation.</translation>
    </message>
    <message>
        <source>It runs on this computer's processor; nothing is sent anywhere.</source>
        <translation>Il tourne sur le processeur de cet ordinateur ; rien n’est envoyé ailleurs.</translation>
    </message>
</context>
<context>
    <name>CheckRow</name>
    <message>
        <source>Not available on this system</source>
        <translation>Non disponible sur ce système</translation>
    </message>
    <message>
        <source>OK</source>
        <translation>OK</translation>
    </message>
    <message>
        <source>Checking…</source>
        <translation>Vérification…</translation>
    </message>
    <message>
        <source>Unknown</source>
        <translation>Inconnu</translation>
    </message>
</context>
<context>
    <name>CheckStep</name>
    <message>
        <source>Can this computer take part?</source>
        <translation>Cet ordinateur peut-il participer ?</translation>
    </message>
    <message>
        <source>Takes five seconds at most. Checks this computer and asks the network which runs are open.</source>
        <translation>Cinq secondes au plus. Vérifie cet ordinateur et demande au réseau quels entraînements sont ouverts.</translation>
    </message>
    <message>
        <source>Check again</source>
        <translation>Vérifier à nouveau</translation>
    </message>
</context>
<context>
    <name>ChildTransport</name>
    <message>
        <source>The worker was ended from outside ({code}).</source>
        <translation>Le service d’arrière-plan a été arrêté de l’extérieur ({code}).</translation>
    </message>
    <message>
        <source>The worker has ended ({code}).</source>
        <translation>Le service d’arrière-plan s’est arrêté ({code}).</translation>
    </message>
</context>
<context>
    <name>CodeConsentDialog</name>
    <message>
        <source>Allow the code of {run}?</source>
        <translation>Autoriser le code de {run} ?</translation>
    </message>
    <message>
        <source>This run brings code that is not part of Tequio. It was written or chosen by the run's organisers ({keys}).</source>
        <translation>Cet entraînement apporte du code qui ne fait pas partie de Tequio. Il a été écrit ou choisi par les organisateurs de l’entraînement ({keys}).</translation>
    </message>
    <message>
        <source>Allow this code</source>
        <translation>Autoriser ce code</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>Pas maintenant</translation>
    </message>
    <message>
        <source>I trust the author of this code</source>
        <translation>Je fais confiance à l’auteur de ce code</translation>
    </message>
    <message>
        <source>{name} {version}, {size}, archive {archive}</source>
        <translation>{name} {version}, {size}, archive {archive}</translation>
    </message>
    <message>
        <source>It runs in the trainer: it computes on your device, and reads what belongs to the run.</source>
        <translation>Il s’exécute dans l’entraîneur : il calcule sur votre appareil et lit ce qui appartient à l’entraînement.</translation>
    </message>
    <message>
        <source>It makes what your key signs in this run. Bad code can cost points, or your key's standing.</source>
        <translation>Il produit ce que votre clé signe dans cet entraînement. Un mauvais code peut coûter des points ou la réputation de votre clé.</translation>
    </message>
    <message>
        <source>Your consent is for these exact bytes. A new version asks again; you can take the consent back here at any time.</source>
        <translation>Votre accord porte sur ces octets exacts. Une nouvelle version demande à nouveau ; vous pouvez retirer votre accord ici à tout moment.</translation>
    </message>
    <message>
        <source>The sandbox keeps it from your key, your home folder, the network and other programs.</source>
        <translation>Le bac à sable le tient à l’écart de votre clé, de votre dossier personnel, du réseau et des autres programmes.</translation>
    </message>
    <message>
        <source>This computer has no sandbox for it: it could read your files and your key, and use the network.</source>
        <translation>Cet ordinateur n’a pas de bac à sable pour lui : il pourrait lire vos fichiers et votre clé, et utiliser le réseau.</translation>
    </message>
</context>
<context>
    <name>CommandsCard</name>
    <message>
        <source>In other programs</source>
        <translation>Dans d’autres programmes</translation>
    </message>
    <message>
        <source>Export the model</source>
        <translation>Exporter le modèle</translation>
    </message>
    <message>
        <source>In a terminal, the first command exports the newest model as a GGUF file, which works for Llama, Mistral and Qwen models. The second line runs it in llama.cpp, the third in Ollama.</source>
        <translation>Dans un terminal, la première commande exporte le modèle le plus récent dans un fichier GGUF, ce qui marche pour les modèles Llama, Mistral et Qwen. La deuxième ligne le lance dans llama.cpp, la troisième dans Ollama.</translation>
    </message>
</context>
<context>
    <name>CompetitionChoice</name>
    <message>
        <source>Way to the result</source>
        <translation>Chemin vers le résultat</translation>
    </message>
    <message numerus="yes">
        <source>%n entrant(s)</source>
        <translation>
            <numerusform>%n participant</numerusform>
            <numerusform>%n participants</numerusform>
        </translation>
    </message>
    <message>
        <source>{time} {goal}</source>
        <translation>{time} {goal}</translation>
    </message>
    <message>
        <source>First place: {names}</source>
        <translation>Première place : {names}</translation>
    </message>
</context>
<context>
    <name>CompetitionFigures</name>
    <message>
        <source>Your points</source>
        <translation>Vos points</translation>
    </message>
    <message>
        <source>Entrants</source>
        <translation>Participants</translation>
    </message>
    <message>
        <source>Texts</source>
        <translation>Textes</translation>
    </message>
    <message>
        <source>Evaluators</source>
        <translation>Évaluateurs</translation>
    </message>
    <message>
        <source>{points} points in the runs of its entrants</source>
        <translation>{points} points dans les entraînements de ses participants</translation>
    </message>
    <message>
        <source>{drawn} of {texts}</source>
        <translation>{drawn} sur {texts}</translation>
    </message>
</context>
<context>
    <name>CompetitionNotifier</name>
    <message numerus="yes">
        <source>This computer scores %n model(s) when it may lend.</source>
        <translation>
            <numerusform>Cet ordinateur notera %n modèle dès qu’il pourra être prêté.</numerusform>
            <numerusform>Cet ordinateur notera %n modèles dès qu’il pourra être prêté.</numerusform>
        </translation>
    </message>
    <message>
        <source>You were drawn to judge {name}</source>
        <translation>Vous avez été tiré au sort pour évaluer {name}</translation>
    </message>
    <message>
        <source>You have judged {name}</source>
        <translation>Vous avez évalué {name}</translation>
    </message>
    <message>
        <source>All your scores are in the log. See how the entrants are doing.</source>
        <translation>Toutes vos notes sont dans le journal. Voyez où en sont les participants.</translation>
    </message>
    <message>
        <source>{sides} compete until {time}. See the rules, and join one of them.</source>
        <translation>{sides} s’affrontent. Fin : {time}. Consultez les règles et rejoignez l’un d’eux.</translation>
    </message>
    <message>
        <source>{name} has begun</source>
        <translation>{name} a commencé</translation>
    </message>
    <message>
        <source>{name}: {time} until the deadline</source>
        <translation>{name} : {time} avant la clôture</translation>
    </message>
    <message>
        <source>Nothing submitted after it counts. See how the entrants are doing.</source>
        <translation>Ensuite, plus rien ne compte. Voyez où en sont les participants.</translation>
    </message>
    <message>
        <source>{name} is decided</source>
        <translation>{name} : le résultat est là</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>Entraînements</translation>
    </message>
    <message numerus="yes">
        <source>{name} and %n other(s)</source>
        <translation>
            <numerusform>{name} et %n autre</numerusform>
            <numerusform>{name} et %n autres</numerusform>
        </translation>
    </message>
    <message>
        <source>{names} and {last}</source>
        <translation>{names} et {last}</translation>
    </message>
    <message>
        <source>It ended without a ranking. See the reason and the scores.</source>
        <translation>Terminée sans classement. Consultez la raison et les notes.</translation>
    </message>
    <message>
        <source>First: {names}, with {score} bits per byte of text (perplexity {perplexity} per byte).</source>
        <translation>Première place : {names}, avec {score} bits par octet de texte (perplexité {perplexity} par octet).</translation>
    </message>
</context>
<context>
    <name>CompetitionSummaryCard</name>
    <message>
        <source>Open the ledger's page</source>
        <translation>Ouvrir la page du registre</translation>
    </message>
</context>
<context>
    <name>ConnectControl</name>
    <message>
        <source>Link…</source>
        <translation>Associer…</translation>
    </message>
    <message>
        <source>Linked</source>
        <translation>Associé</translation>
    </message>
    <message>
        <source>Invited</source>
        <translation>Invité</translation>
    </message>
</context>
<context>
    <name>ConnectDialog</name>
    <message>
        <source>Link an account</source>
        <translation>Associer un compte</translation>
    </message>
    <message>
        <source>Some runs ask for it. The public log then shows that a person is behind your key, and which keys are theirs, but not who it is.</source>
        <translation>Certains entraînements le demandent. Le journal public montre alors qu’une personne est derrière votre clé, et quelles clés sont les siennes, mais pas qui elle est.</translation>
    </message>
    <message>
        <source>Get a code</source>
        <translation>Obtenir un code</translation>
    </message>
    <message>
        <source>Address of the connector</source>
        <translation>Adresse du service d’association</translation>
    </message>
    <message>
        <source>Provider, if it has several</source>
        <translation>Fournisseur, s’il y en a plusieurs</translation>
    </message>
    <message>
        <source>The organisers of the network name connectors that they trust.</source>
        <translation>Les organisateurs du réseau indiquent les services d’association auxquels ils font confiance.</translation>
    </message>
    <message>
        <source>Code</source>
        <translation>Code</translation>
    </message>
    <message>
        <source>Open the page</source>
        <translation>Ouvrir la page</translation>
    </message>
    <message>
        <source>Never share this code, and never enter one that somebody else gave you.</source>
        <translation>Ne communiquez jamais ce code, et n’en saisissez jamais un que quelqu’un d’autre vous a donné.</translation>
    </message>
    <message>
        <source>Enter this code</source>
        <translation>Saisissez ce code</translation>
    </message>
    <message>
        <source>At {url}, signed in with your account there.</source>
        <translation>Sur {url}, en étant connecté à votre compte.</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Fermer</translation>
    </message>
    <message>
        <source>The code was not used in time. Open this dialog again.</source>
        <translation>Le code n’a pas été utilisé à temps. Rouvrez cette fenêtre.</translation>
    </message>
</context>
<context>
    <name>ConsentCard</name>
    <message>
        <source>{traffic} GB of traffic a month</source>
        <translation>{traffic} Go de trafic par mois</translation>
    </message>
    <message>
        <source>I lend this computer to Tequio as chosen here: it may use the graphics card, the processor, up to {disk} GB of disk, {traffic}, and the power that takes. I am allowed to decide this for this computer.</source>
        <translation>Je prête cet ordinateur à Tequio selon les choix faits ici : il peut utiliser la carte graphique, le processeur, jusqu’à {disk} Go de disque, {traffic} et l’électricité nécessaire. J’ai le droit d’en décider pour cet ordinateur.</translation>
    </message>
    <message>
        <source>traffic without a limit</source>
        <translation>un trafic illimité</translation>
    </message>
    <message>
        <source>I agree</source>
        <translation>J’accepte</translation>
    </message>
    <message>
        <source>You can pause, change or stop at any time.</source>
        <translation>Vous pouvez mettre en pause, modifier ou arrêter à tout moment.</translation>
    </message>
</context>
<context>
    <name>Conversation</name>
    <message>
        <source>The worker sent an invalid message ({problem}).</source>
        <translation>Le service d’arrière-plan a envoyé un message non valide ({problem}).</translation>
    </message>
    <message>
        <source>The worker is still being started.</source>
        <translation>Le service d’arrière-plan est encore en train de démarrer.</translation>
    </message>
    <message>
        <source>The worker has not answered in time.</source>
        <translation>Le service d’arrière-plan n’a pas répondu à temps.</translation>
    </message>
    <message>
        <source>The worker has not answered in time. It may still carry out the request.</source>
        <translation>Le service d’arrière-plan n’a pas répondu à temps. Il peut encore exécuter la demande.</translation>
    </message>
    <message>
        <source>The worker does not answer any more.</source>
        <translation>Le service d’arrière-plan ne répond plus.</translation>
    </message>
</context>
<context>
    <name>CopyLine</name>
    <message>
        <source>Copy</source>
        <translation>Copier</translation>
    </message>
    <message>
        <source>Copy: {name}</source>
        <translation>Copier : {name}</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Copié</translation>
    </message>
</context>
<context>
    <name>CostCard</name>
    <message>
        <source>Hours per day</source>
        <translation>Heures par jour</translation>
    </message>
    <message numerus="yes">
        <source>%n hour(s)</source>
        <translation>
            <numerusform>%n heure</numerusform>
            <numerusform>%n heures</numerusform>
        </translation>
    </message>
    <message>
        <source>Price per kWh</source>
        <translation>Prix du kWh</translation>
    </message>
    <message>
        <source>not entered</source>
        <translation>non indiqué</translation>
    </message>
    <message>
        <source>What it costs in power</source>
        <translation>Ce que cela coûte en électricité</translation>
    </message>
    <message>
        <source>while it trains</source>
        <translation>pendant l’entraînement</translation>
    </message>
    <message>
        <source>{energy} kWh</source>
        <translation>{energy} kWh</translation>
    </message>
    <message>
        <source>per month</source>
        <translation>par mois</translation>
    </message>
    <message>
        <source>Checking this computer. Until then, the range covers most graphics cards.</source>
        <translation>Examen de cet ordinateur. La fourchette est celle de la plupart des cartes graphiques.</translation>
    </message>
    <message>
        <source>{device}: no graphics card was found. The range covers most processors.</source>
        <translation>{device} : aucune carte graphique trouvée. La fourchette est celle des processeurs.</translation>
    </message>
    <message>
        <source>{device}: from 60% of its power limit to all of it.</source>
        <translation>{device} : de 60 % à la totalité de sa limite de puissance.</translation>
    </message>
    <message>
        <source>{device} does not report its limit. The range covers most cards.</source>
        <translation>{device} n’indique pas sa limite. La fourchette est celle de la plupart des cartes.</translation>
    </message>
    <message>
        <source>For this device only. If your PC would otherwise be asleep, add 40 to 90 W.</source>
        <translation>Pour cet appareil uniquement. Si votre PC était sinon en veille, ajoutez 40 à 90 W.</translation>
    </message>
    <message>
        <source>This is a rough household price: enter yours.</source>
        <translation>C’est un prix domestique approximatif : indiquez le vôtre.</translation>
    </message>
</context>
<context>
    <name>DaysCard</name>
    <message>
        <source>Points per day</source>
        <translation>Points par jour</translation>
    </message>
    <message>
        <source>30 days</source>
        <translation>30 jours</translation>
    </message>
    <message>
        <source>A round trains for about {time} and is checked after that.</source>
        <translation>Une manche entraîne pendant environ {time}, puis elle est vérifiée.</translation>
    </message>
    <message>
        <source>{total} points in {days} days; most on {day}: {peak}</source>
        <translation>{total} points en {days} jours ; maximum le {day} : {peak}</translation>
    </message>
    <message>
        <source>Your verified points for each day will appear here after your first round.</source>
        <translation>Les points vérifiés de chaque jour apparaîtront ici dès votre première manche.</translation>
    </message>
</context>
<context>
    <name>DetailsButton</name>
    <message>
        <source>Details</source>
        <translation>Détails</translation>
    </message>
</context>
<context>
    <name>DetailsDialog</name>
    <message>
        <source>Details</source>
        <translation>Détails</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Copier</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Fermer</translation>
    </message>
</context>
<context>
    <name>DeviceCard</name>
    <message>
        <source>Lend {device}</source>
        <translation>Prêter {device}</translation>
    </message>
    <message>
        <source>Role</source>
        <translation>Rôle</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>Automatique</translation>
    </message>
    <message>
        <source>Trainer</source>
        <translation>Entraîneur</translation>
    </message>
    <message>
        <source>Witness</source>
        <translation>Témoin</translation>
    </message>
    <message>
        <source>Trainers train the model; witnesses check their work. Automatic does both. Default: automatic.</source>
        <translation>Les entraîneurs entraînent le modèle ; les témoins vérifient leur travail. Automatique fait les deux. Par défaut : automatique.</translation>
    </message>
    <message>
        <source>While I use the computer</source>
        <translation>Pendant que j’utilise l’ordinateur</translation>
    </message>
    <message>
        <source>Lends this card also while you use the computer or play on another one. Stops when another program uses it. Default: off.</source>
        <translation>Prête aussi cette carte pendant que vous utilisez l’ordinateur ou jouez sur une autre. S’arrête dès qu’un autre programme l’utilise. Par défaut : désactivé.</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>Entraînement</translation>
    </message>
    <message>
        <source>The run that this device trains. Two devices of one computer never train the same run. Default: automatic.</source>
        <translation>L’entraînement auquel participe cet appareil. Deux appareils d’un même ordinateur n’ont jamais le même. Par défaut : automatique.</translation>
    </message>
    <message>
        <source>Processor</source>
        <translation>Processeur</translation>
    </message>
    <message>
        <source>Not known yet</source>
        <translation>Pas encore connu</translation>
    </message>
    <message>
        <source>Not readable now</source>
        <translation>Illisible pour le moment</translation>
    </message>
    <message>
        <source>No longer open</source>
        <translation>N’est plus ouvert</translation>
    </message>
    <message numerus="yes">
        <source>%n core(s)</source>
        <translation>
            <numerusform>%n cœur</numerusform>
            <numerusform>%n cœurs</numerusform>
        </translation>
    </message>
    <message>
        <source>{memory} of memory</source>
        <translation>{memory} de mémoire</translation>
    </message>
    <message>
        <source>driver {version}</source>
        <translation>pilote {version}</translation>
    </message>
    <message>
        <source>{run}: round {round} of {rounds}</source>
        <translation>{run} : manche {round} sur {rounds}</translation>
    </message>
    <message>
        <source>Computing</source>
        <translation>Calcule</translation>
    </message>
    <message>
        <source>Computing, {share} of the time</source>
        <translation>Calcule {share} du temps</translation>
    </message>
    <message>
        <source>Between rounds</source>
        <translation>Entre deux manches</translation>
    </message>
    <message>
        <source>Starting</source>
        <translation>Démarrage</translation>
    </message>
    <message>
        <source>Stopping</source>
        <translation>Arrêt</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>Échec</translation>
    </message>
    <message>
        <source>Ready</source>
        <translation>Disponible</translation>
    </message>
    <message>
        <source>Not lent</source>
        <translation>Non prêté</translation>
    </message>
    <message>
        <source>Stops lending now</source>
        <translation>Arrête le prêt immédiatement</translation>
    </message>
</context>
<context>
    <name>DeviceLimits</name>
    <message>
        <source>Share of the time</source>
        <translation>Part du temps</translation>
    </message>
    <message>
        <source>How much of the time this device works.</source>
        <translation>La part du temps pendant laquelle cet appareil travaille.</translation>
    </message>
    <message>
        <source>Usual</source>
        <translation>Habituel</translation>
    </message>
    <message>
        <source>{memory}, automatic</source>
        <translation>{memory}, automatique</translation>
    </message>
    <message>
        <source>No goal</source>
        <translation>Aucune cible</translation>
    </message>
    <message>
        <source>{threads}, automatic</source>
        <translation>{threads}, automatique</translation>
    </message>
    <message>
        <source>Left to the desktop: 2 GB at least, unless you choose more here.</source>
        <translation>Laissé au bureau : au moins 2 Go, sauf si vous en choisissez plus ici.</translation>
    </message>
    <message>
        <source>{free} This card has {total}.</source>
        <translation>{free} Cette carte en a {total}.</translation>
    </message>
    <message>
        <source>VRAM</source>
        <translation>VRAM</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>Automatique</translation>
    </message>
    <message>
        <source>Power goal</source>
        <translation>Puissance visée</translation>
    </message>
    <message>
        <source>Kept by resting between steps; the card's own limit is {most}.</source>
        <translation>Respectée par des pauses entre les étapes ; la limite de la carte est de {most}.</translation>
    </message>
    <message>
        <source>Slows down to stay below this; stops at 5 °C above it.</source>
        <translation>Ralentit pour rester en dessous ; s’arrête 5 °C au-dessus.</translation>
    </message>
    <message>
        <source>Temperature goal</source>
        <translation>Température visée</translation>
    </message>
    <message>
        <source>Of {cores} cores; one stays free unless you choose otherwise.</source>
        <translation>Sur {cores} cœurs ; un reste libre, sauf choix contraire de votre part.</translation>
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
        <translation>Comment</translation>
    </message>
    <message>
        <source>Join with a link</source>
        <translation>Rejoindre avec un lien</translation>
    </message>
    <message>
        <source>Found a team</source>
        <translation>Créer une équipe</translation>
    </message>
    <message>
        <source>Join link or code of a team</source>
        <translation>Lien ou code d’une équipe</translation>
    </message>
    <message>
        <source>Name of the new team</source>
        <translation>Nom de la nouvelle équipe</translation>
    </message>
    <message>
        <source>2 to 32 letters of one script and digits. The name is public and stays. You can found one team every 30 days.</source>
        <translation>2 à 32 lettres d’un même alphabet et chiffres. Le nom est public et définitif. Vous pouvez créer une équipe tous les 30 jours.</translation>
    </message>
    <message>
        <source>Ask the owner of the team for its link or code.</source>
        <translation>Demandez le lien ou le code à la personne responsable de l’équipe.</translation>
    </message>
</context>
<context>
    <name>ErrorReportDialog</name>
    <message>
        <source>Tequio – a fault</source>
        <translation>Tequio – une erreur</translation>
    </message>
    <message>
        <source>Report</source>
        <translation>Rapport</translation>
    </message>
    <message>
        <source>Copy report</source>
        <translation>Copier le rapport</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>Continuer</translation>
    </message>
    <message numerus="yes">
        <source>%n more fault(s) since</source>
        <translation>
            <numerusform>%n autre erreur depuis</numerusform>
            <numerusform>%n autres erreurs depuis</numerusform>
        </translation>
    </message>
    <message>
        <source>Something went wrong in Tequio's window</source>
        <translation>Une erreur s’est produite dans la fenêtre de Tequio</translation>
    </message>
    <message>
        <source>Lending is not affected: it runs in a program of its own. Nothing was sent to anybody. If you want to report this, copy the text below; keys and names of your folders were taken out of it.</source>
        <translation>Le prêt n’est pas touché : il tourne dans un programme à part. Rien n’a été envoyé à personne. Pour signaler l’erreur, copiez le texte ci-dessous ; les clés et les noms de vos dossiers en ont été retirés.</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Copié</translation>
    </message>
</context>
<context>
    <name>EventsRows</name>
    <message>
        <source>Good: {words}</source>
        <translation>Bon : {words}</translation>
    </message>
    <message>
        <source>Attention: {words}</source>
        <translation>Attention : {words}</translation>
    </message>
    <message>
        <source>Problem: {words}</source>
        <translation>Problème : {words}</translation>
    </message>
</context>
<context>
    <name>ExclusiveList</name>
    <message>
        <source>Add a program</source>
        <translation>Ajouter un programme</translation>
    </message>
    <message>
        <source>No programs yet.</source>
        <translation>Aucun programme pour l’instant.</translation>
    </message>
    <message>
        <source>{program} was removed from the list.</source>
        <translation>{program} a été retiré de la liste.</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Retirer</translation>
    </message>
    <message>
        <source>Remove {program}</source>
        <translation>Retirer {program}</translation>
    </message>
</context>
<context>
    <name>FirstRun</name>
    <message>
        <source>Back</source>
        <translation>Précédent</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>Pas maintenant</translation>
    </message>
    <message>
        <source>Step {number} of {steps}</source>
        <translation>Étape {number} sur {steps}</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>Suivant</translation>
    </message>
    <message>
        <source>You are invited to “{network}”. Step 3 makes your key; then you can join.</source>
        <translation>Vous êtes invité dans « {network} ». L’étape 3 crée votre clé ; vous pourrez ensuite le rejoindre.</translation>
    </message>
    <message>
        <source>You are invited to “{network}”.</source>
        <translation>Vous êtes invité dans « {network} ».</translation>
    </message>
    <message>
        <source>Join</source>
        <translation>Rejoindre</translation>
    </message>
</context>
<context>
    <name>FolderLine</name>
    <message>
        <source>Folder</source>
        <translation>Dossier</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Ouvrir</translation>
    </message>
    <message>
        <source>Open the folder</source>
        <translation>Ouvrir le dossier</translation>
    </message>
</context>
<context>
    <name>HardwarePage</name>
    <message>
        <source>Choose what Tequio may use. Each device that is lent trains a run of its own. Changes apply immediately.</source>
        <translation>Choisissez ce que Tequio peut utiliser. Chaque appareil prêté a son propre entraînement. Les changements s’appliquent immédiatement.</translation>
    </message>
    <message>
        <source>Hardware</source>
        <translation>Matériel</translation>
    </message>
    <message>
        <source>The worker is being started; its devices will appear here.</source>
        <translation>Le service d’arrière-plan démarre ; ses appareils apparaîtront ensuite ici.</translation>
    </message>
    <message>
        <source>The hardware is being checked; its devices will appear here.</source>
        <translation>Vérification du matériel en cours ; ses appareils apparaîtront ensuite ici.</translation>
    </message>
    <message>
        <source>The hardware probe is not responding, so the state of the graphics cards is unknown. Nothing is lent until it responds; Tequio restarts it automatically.</source>
        <translation>La surveillance du matériel ne répond pas : l’état des cartes graphiques est inconnu. Rien n’est prêté tant qu’elle ne répond pas ; Tequio la redémarre automatiquement.</translation>
    </message>
    <message>
        <source>No graphics card was found that can train. The CPU is lent instead. It's slower, but still earns points.</source>
        <translation>Aucune carte graphique capable d’entraîner n’a été trouvée. Le processeur est prêté à la place. Il est plus lent, mais rapporte aussi des points.</translation>
    </message>
    <message>
        <source>No graphics card was found that can train. The CPU can be lent instead.</source>
        <translation>Aucune carte graphique capable d’entraîner n’a été trouvée. Vous pouvez prêter le processeur à la place.</translation>
    </message>
    <message>
        <source>Lend the processor</source>
        <translation>Prêter le processeur</translation>
    </message>
    <message>
        <source>{device} is no longer lent.</source>
        <translation>{device} n’est plus prêté.</translation>
    </message>
</context>
<context>
    <name>HealthView</name>
    <message>
        <source>Your session</source>
        <translation>Votre session</translation>
    </message>
    <message>
        <source>Nothing is known about your session yet.</source>
        <translation>On ne sait encore rien de votre session.</translation>
    </message>
    <message>
        <source>The hardware is being checked…</source>
        <translation>Vérification du matériel…</translation>
    </message>
    <message>
        <source>The hardware probe is not responding. The worker restarts it automatically.</source>
        <translation>La surveillance du matériel ne répond pas. Le service d’arrière-plan la redémarre automatiquement.</translation>
    </message>
    <message>
        <source>This computer</source>
        <translation>Cet ordinateur</translation>
    </message>
    <message numerus="yes">
        <source>All %n check(s) are working.</source>
        <translation>
            <numerusform>%n contrôle fonctionne.</numerusform>
            <numerusform>Les %n contrôles fonctionnent tous.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n check(s) aren't working.</source>
        <translation>
            <numerusform>%n contrôle ne fonctionne pas.</numerusform>
            <numerusform>%n contrôles ne fonctionnent pas.</numerusform>
        </translation>
    </message>
    <message>
        <source>If Tequio isn't sure, it stays paused.</source>
        <translation>En cas de doute, Tequio reste en pause.</translation>
    </message>
    <message>
        <source>Some checks have not responded yet.</source>
        <translation>Certains contrôles n’ont pas encore répondu.</translation>
    </message>
</context>
<context>
    <name>HelpDialog</name>
    <message>
        <source>Keyboard and help</source>
        <translation>Clavier et aide</translation>
    </message>
    <message>
        <source>Read this page again</source>
        <translation>Actualiser cette page</translation>
    </message>
    <message>
        <source>Go to the next control, and use it</source>
        <translation>Aller à la commande suivante, et l’utiliser</translation>
    </message>
    <message>
        <source>Search the settings</source>
        <translation>Rechercher dans les paramètres</translation>
    </message>
    <message>
        <source>Close the window; Tequio goes on in the tray</source>
        <translation>Fermer la fenêtre ; Tequio continue dans la zone de notification</translation>
    </message>
    <message>
        <source>Quit, and stop lending</source>
        <translation>Quitter et arrêter de prêter</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Fermer</translation>
    </message>
    <message>
        <source>Every command explains itself: tequio --help. Version {version}.</source>
        <translation>Chaque commande s’explique elle-même : tequio --help. Version {version}.</translation>
    </message>
</context>
<context>
    <name>HomeHeader</name>
    <message>
        <source>Snooze</source>
        <translation>Pause temporaire</translation>
    </message>
    <message>
        <source>Finish round, then stop</source>
        <translation>Finir la manche, puis arrêter</translation>
    </message>
    <message>
        <source>Ends the round under way, so that none of its work is lost.</source>
        <translation>Termine la manche en cours, pour qu’aucun travail ne soit perdu.</translation>
    </message>
    <message>
        <source>Go on after this round</source>
        <translation>Continuer après cette manche</translation>
    </message>
    <message>
        <source>Start now anyway</source>
        <translation>Démarrer quand même</translation>
    </message>
    <message>
        <source>Starts although a rule says to wait.</source>
        <translation>Démarre bien qu’une règle demande d’attendre.</translation>
    </message>
    <message>
        <source>Change this rule</source>
        <translation>Modifier cette règle</translation>
    </message>
    <message>
        <source>Nothing is lent until this is solved.</source>
        <translation>Rien n’est prêté tant que ce n’est pas résolu.</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pause</translation>
    </message>
    <message>
        <source>Stops at once and gives the device back.</source>
        <translation>S’arrête immédiatement et rend l’appareil.</translation>
    </message>
    <message>
        <source>Set up</source>
        <translation>Configurer</translation>
    </message>
    <message>
        <source>Resume now</source>
        <translation>Reprendre maintenant</translation>
    </message>
    <message>
        <source>Contribute</source>
        <translation>Contribuer</translation>
    </message>
</context>
<context>
    <name>InvitationDialog</name>
    <message>
        <source>Join</source>
        <translation>Rejoindre</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>Pas maintenant</translation>
    </message>
    <message>
        <source>An invitation</source>
        <translation>Une invitation</translation>
    </message>
    <message>
        <source>Checking this invitation with {ledger}…</source>
        <translation>Vérification de cette invitation auprès de {ledger}…</translation>
    </message>
    <message>
        <source>Join the run “{run}”?</source>
        <translation>Rejoindre l’entraînement « {run} » ?</translation>
    </message>
    <message>
        <source>Join the network “{network}”?</source>
        <translation>Rejoindre le réseau « {network} » ?</translation>
    </message>
    <message>
        <source>The organisers of the network “{network}” invite you (entry {index} of the log at {ledger}).</source>
        <translation>Les organisateurs du réseau « {network} » vous invitent (entrée {index} du journal de {ledger}).</translation>
    </message>
    <message>
        <source>Make my key</source>
        <translation>Créer ma clé</translation>
    </message>
    <message>
        <source>Your key comes first: it is made in the first steps. Then this question comes again.</source>
        <translation>D’abord votre clé : elle est créée au cours des premières étapes. Cette question reviendra ensuite.</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Fermer</translation>
    </message>
    <message>
        <source>This invitation cannot be used</source>
        <translation>Cette invitation ne peut pas être utilisée</translation>
    </message>
    <message>
        <source>Nothing was changed.</source>
        <translation>Rien n’a été modifié.</translation>
    </message>
    <message>
        <source>Joining. This may take a minute.</source>
        <translation>Adhésion en cours. Cela peut prendre une minute.</translation>
    </message>
    <message>
        <source>Your key is in this network already and stays as it is; the invitation is not used up.</source>
        <translation>Votre clé est déjà dans ce réseau et reste telle quelle ; l’invitation n’est pas consommée.</translation>
    </message>
    <message numerus="yes">
        <source>%n use(s) left, valid until {until}.</source>
        <translation>
            <numerusform>Encore %n utilisation (fin : {until}).</numerusform>
            <numerusform>Encore %n utilisations (fin : {until}).</numerusform>
        </translation>
    </message>
    <message>
        <source>Everybody can read in the log that this invitation let your key in; the organisers can take it back.</source>
        <translation>Tout le monde peut lire dans le journal que cette invitation a fait entrer votre clé ; les organisateurs peuvent la retirer.</translation>
    </message>
    <message>
        <source>You will lend to this ledger instead of {old}. The settings change it back.</source>
        <translation>Vous prêterez à ce registre au lieu de {old}. Les paramètres permettent de revenir en arrière.</translation>
    </message>
    <message>
        <source>What you have chosen about when and how much to lend holds as before.</source>
        <translation>Vos choix sur le moment et l’ampleur du prêt restent valables.</translation>
    </message>
    <message>
        <source>Nothing is lent before you have gone through the first steps.</source>
        <translation>Rien n’est prêté tant que vous n’avez pas suivi les premières étapes.</translation>
    </message>
    <message>
        <source>You choose the run, among all of this network.</source>
        <translation>Vous choisissez l’entraînement, parmi tous ceux de ce réseau.</translation>
    </message>
    <message numerus="yes">
        <source>%n computers are in it now</source>
        <translation>
            <numerusform>%n ordinateur y participe en ce moment</numerusform>
            <numerusform>%n ordinateurs y participent en ce moment</numerusform>
        </translation>
    </message>
    <message>
        <source>{tokens} tokens were trained so far</source>
        <translation>{tokens} tokens entraînés jusqu’ici</translation>
    </message>
    <message>
        <source>{members}; {tokens}</source>
        <translation>{members} ; {tokens}</translation>
    </message>
    <message>
        <source>The server at {ledger} does not answer as a ledger ({detail}). Try the link again later, or ask its sender.</source>
        <translation>Le serveur {ledger} ne répond pas comme un registre ({detail}). Réessayez le lien plus tard, ou demandez à la personne qui vous l’a envoyé.</translation>
    </message>
    <message>
        <source>{ledger} belongs to another network than this link. Ask its sender for a new link.</source>
        <translation>{ledger} appartient à un autre réseau que ce lien. Demandez un nouveau lien à la personne qui vous l’a envoyé.</translation>
    </message>
    <message>
        <source>The network does not know this invitation yet. A second organiser may still have to sign it. Try the link again later, or ask its sender.</source>
        <translation>Le réseau ne connaît pas encore cette invitation. Un second organisateur doit peut-être encore la signer. Réessayez le lien plus tard, ou demandez à la personne qui vous l’a envoyé.</translation>
    </message>
    <message>
        <source>The organisers have ended this invitation. Ask for another.</source>
        <translation>Les organisateurs ont mis fin à cette invitation. Demandez-en une autre.</translation>
    </message>
    <message>
        <source>This invitation has expired. Ask for another.</source>
        <translation>Cette invitation a expiré. Demandez-en une autre.</translation>
    </message>
    <message>
        <source>This invitation has been used up. Ask for another.</source>
        <translation>Cette invitation est épuisée. Demandez-en une autre.</translation>
    </message>
    <message>
        <source>The run “{detail}” has ended.</source>
        <translation>L’entraînement « {detail} » est terminé.</translation>
    </message>
    <message>
        <source>This app's folder belongs to another network, with its key and points. Join on the command line, in a folder of its own: tequio join LINK --dir FOLDER</source>
        <translation>Le dossier de cette application appartient à un autre réseau, avec sa clé et ses points. Rejoignez celui-ci en ligne de commande, dans un dossier séparé : tequio join LINK --dir FOLDER</translation>
    </message>
    <message>
        <source>This invitation link is incomplete ({detail}). Open it again from where you got it.</source>
        <translation>Ce lien d’invitation est incomplet ({detail}). Rouvrez-le là où vous l’avez reçu.</translation>
    </message>
    <message>
        <source>The worker here was started elsewhere. End it, then open the link again.</source>
        <translation>Le service d’arrière-plan a été lancé ailleurs. Arrêtez-le, puis rouvrez le lien.</translation>
    </message>
</context>
<context>
    <name>JoinNetworkDialog</name>
    <message>
        <source>This computer is in the network at {ledger} now.</source>
        <translation>Cet ordinateur est maintenant dans le réseau {ledger}.</translation>
    </message>
    <message>
        <source>A link names the network at this address. Nothing is lent by joining: you decide later when this computer works for it.</source>
        <translation>Un lien désigne le réseau à cette adresse. Le rejoindre ne prête encore rien : vous déciderez ensuite quand cet ordinateur travaille pour lui.</translation>
    </message>
    <message>
        <source>Choose the network that this computer should work for.</source>
        <translation>Choisissez le réseau pour lequel cet ordinateur doit travailler.</translation>
    </message>
    <message>
        <source>Join this network?</source>
        <translation>Rejoindre ce réseau ?</translation>
    </message>
    <message>
        <source>Join a network</source>
        <translation>Rejoindre un réseau</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Annuler</translation>
    </message>
</context>
<context>
    <name>JoinedCard</name>
    <message>
        <source>Since you joined</source>
        <translation>Depuis votre arrivée</translation>
    </message>
    <message>
        <source>None of your work has been accepted yet. Once it is, you can see here how the model has changed since.</source>
        <translation>Rien de votre travail n’a encore été accepté. Dès que ce sera le cas, vous verrez ici comment le modèle a changé depuis.</translation>
    </message>
    <message>
        <source>Your work has counted since round {round}. The model has not been measured since.</source>
        <translation>Votre travail compte depuis la manche {round}. Le modèle n’a pas été mesuré depuis.</translation>
    </message>
    <message>
        <source>Your work has counted since round {round}. The next measure will show how the model changes.</source>
        <translation>Votre travail compte depuis la manche {round}. La prochaine mesure montrera comment le modèle change.</translation>
    </message>
    <message>
        <source>Since your work first counted, in round {round}, the model has improved from {then} to {now} bits per byte on unseen text: {percent} fewer. Its perplexity went from {before} to {after}.</source>
        <translation>Depuis que votre travail a compté pour la première fois, à la manche {round}, le modèle s’est amélioré de {then} à {now} bits par octet sur des textes jamais vus : {percent} de moins. Sa perplexité est passée de {before} à {after}.</translation>
    </message>
    <message>
        <source>Since your work first counted, in round {round}, the model has gone from {then} to {now} bits per byte on unseen text: {percent} more. Its perplexity went from {before} to {after}. Lower is better; both go up and down from round to round.</source>
        <translation>Depuis que votre travail a compté pour la première fois, à la manche {round}, le modèle est passé de {then} à {now} bits par octet sur des textes jamais vus : {percent} de plus. Sa perplexité est passée de {before} à {after}. Moins, c’est mieux ; les deux montent et descendent d’une manche à l’autre.</translation>
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
        <translation>Proposer d’évaluer</translation>
    </message>
    <message>
        <source>Resume judging</source>
        <translation>Reprendre l’évaluation</translation>
    </message>
    <message>
        <source>Stop judging</source>
        <translation>Arrêter d’évaluer</translation>
    </message>
</context>
<context>
    <name>KeyAccount</name>
    <message>
        <source>The worker does not answer</source>
        <translation>Le service d’arrière-plan ne répond pas</translation>
    </message>
</context>
<context>
    <name>KeyCard</name>
    <message>
        <source>24 words…</source>
        <translation>24 mots…</translation>
    </message>
    <message>
        <source>Save a file…</source>
        <translation>Enregistrer un fichier…</translation>
    </message>
    <message>
        <source>Change how it's stored…</source>
        <translation>Changer la conservation…</translation>
    </message>
    <message>
        <source>Restore another…</source>
        <translation>Restaurer une autre…</translation>
    </message>
    <message>
        <source>A sealed key</source>
        <translation>Une clé protégée</translation>
    </message>
    <message>
        <source>No key</source>
        <translation>Aucune clé</translation>
    </message>
    <message>
        <source>You don't have a key yet.</source>
        <translation>Vous n’avez pas encore de clé.</translation>
    </message>
    <message>
        <source>Kept in this system's keyring: the file alone is worth nothing.</source>
        <translation>Conservée dans le trousseau de ce système : le fichier seul ne vaut rien.</translation>
    </message>
    <message>
        <source>Kept under your passphrase, which is asked at each start.</source>
        <translation>Conservée sous votre phrase secrète, demandée à chaque démarrage.</translation>
    </message>
    <message>
        <source>Stored unencrypted, in a file only your user account can read.</source>
        <translation>Conservée sans chiffrement, dans un fichier que seul votre compte peut lire.</translation>
    </message>
    <message>
        <source>No backup yet</source>
        <translation>Pas encore de sauvegarde</translation>
    </message>
    <message>
        <source>Back it up now, or later: until then Home reminds you. If this disk fails without a backup, your points cannot be claimed.</source>
        <translation>Sauvegardez-la maintenant ou plus tard : d’ici là, l’accueil vous le rappelle. Si ce disque tombe en panne sans sauvegarde, vos points sont perdus.</translation>
    </message>
    <message>
        <source>Backed up as words, {day}</source>
        <translation>Sauvegardée en mots, {day}</translation>
    </message>
    <message>
        <source>Backed up as a file, {day}</source>
        <translation>Sauvegardée en fichier, {day}</translation>
    </message>
    <message>
        <source>You can make as many backups as you like; all remain valid.</source>
        <translation>Faites autant de sauvegardes que vous voulez ; toutes restent valables.</translation>
    </message>
</context>
<context>
    <name>KeyDialog</name>
    <message>
        <source>Cancel</source>
        <translation>Annuler</translation>
    </message>
</context>
<context>
    <name>KeyStep</name>
    <message>
        <source>Your key</source>
        <translation>Votre clé</translation>
    </message>
    <message>
        <source>Your key is your account: no e-mail and no sign-up. It signs your work, and the points belong to it.</source>
        <translation>Votre clé est votre compte : ni e-mail, ni inscription. Elle signe votre travail, et les points lui appartiennent.</translation>
    </message>
</context>
<context>
    <name>LeaveDialog</name>
    <message>
        <source>Nothing is lent. What you chose is kept, and “Set up” on Home returns to this step.</source>
        <translation>Rien n’est prêté. Vos choix sont conservés, et « Configurer » sur l’accueil ramène à cette étape.</translation>
    </message>
    <message>
        <source>What you chose here is dropped, and lending stays as it was.</source>
        <translation>Ce que vous avez choisi ici est abandonné, et le prêt reste tel qu’il était.</translation>
    </message>
    <message>
        <source>Leave this for now?</source>
        <translation>Arrêter là pour l’instant ?</translation>
    </message>
    <message>
        <source>Leave for now</source>
        <translation>Continuer plus tard</translation>
    </message>
    <message>
        <source>Go on here</source>
        <translation>Continuer ici</translation>
    </message>
</context>
<context>
    <name>LedgerCheck</name>
    <message>
        <source>{address} is not a valid ledger address: it must begin with http:// or https:// and name a computer, for example https://ledger.example.</source>
        <translation>{address} n’est pas une adresse de registre valide : elle doit commencer par http:// ou https:// et désigner un ordinateur, par exemple https://ledger.example.</translation>
    </message>
    <message>
        <source>Nothing answers at {address}. Check the address and your connection.</source>
        <translation>Rien ne répond à {address}. Vérifiez l’adresse et votre connexion.</translation>
    </message>
    <message>
        <source>{address} is not a ledger. Check the address with its sender.</source>
        <translation>{address} n’est pas un registre. Vérifiez l’adresse auprès de la personne qui vous l’a donnée.</translation>
    </message>
</context>
<context>
    <name>LedgerField</name>
    <message>
        <source>Ledger's address</source>
        <translation>Adresse du registre</translation>
    </message>
    <message>
        <source>Join a network…</source>
        <translation>Rejoindre un réseau…</translation>
    </message>
    <message>
        <source>Connecting…</source>
        <translation>Connexion…</translation>
    </message>
    <message>
        <source>No network was chosen yet.</source>
        <translation>Aucun réseau n’a encore été choisi.</translation>
    </message>
    <message>
        <source>Not answering now. Tequio keeps trying.</source>
        <translation>Ne répond pas en ce moment. Tequio continue d’essayer.</translation>
    </message>
    <message>
        <source>Connected.</source>
        <translation>Connecté.</translation>
    </message>
</context>
<context>
    <name>ListPage</name>
    <message>
        <source>Refresh</source>
        <translation>Actualiser</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Réessayer</translation>
    </message>
    <message>
        <source>This list is from {time}. {problem}; Tequio keeps trying.</source>
        <translation>Cette liste date de {time}. {problem} ; Tequio continue d’essayer.</translation>
    </message>
</context>
<context>
    <name>ListenField</name>
    <message>
        <source>Listen address</source>
        <translation>Adresse d’écoute</translation>
    </message>
    <message>
        <source>{address} is not a valid listen address: write /ip4/0.0.0.0/tcp/4001, or leave it empty.</source>
        <translation>{address} n’est pas une adresse d’écoute valide : saisissez /ip4/0.0.0.0/tcp/4001, ou laissez vide.</translation>
    </message>
</context>
<context>
    <name>LoginSwitch</name>
    <message>
        <source>Start at login</source>
        <translation>Lancer à l’ouverture de session</translation>
    </message>
    <message>
        <source>The system refused the change: {why}. Add Tequio to its startup programs by hand.</source>
        <translation>Le système a refusé le changement : {why}. Ajoutez Tequio à la main à ses programmes de démarrage.</translation>
    </message>
    <message>
        <source>The system accepted the change but does not report it. Check its own list of startup programs.</source>
        <translation>Le système a accepté le changement mais ne l’affiche pas. Vérifiez sa propre liste de programmes de démarrage.</translation>
    </message>
</context>
<context>
    <name>LostKeyControl</name>
    <message>
        <source>Use a recovery key…</source>
        <translation>Utiliser une clé de récupération…</translation>
    </message>
</context>
<context>
    <name>LostKeyDialog</name>
    <message>
        <source>A lost or stolen computer</source>
        <translation>Un ordinateur perdu ou volé</translation>
    </message>
    <message>
        <source>The recovery key stops that computer's key permanently: a thief can no longer use it. If the key had no recovery key, a backup of the key itself does the same.</source>
        <translation>La clé de récupération bloque définitivement la clé de cet ordinateur : un voleur ne peut plus l’utiliser. Si la clé n’en avait pas, une sauvegarde de la clé elle-même fait de même.</translation>
    </message>
    <message>
        <source>What to do</source>
        <translation>Que faire</translation>
    </message>
    <message>
        <source>Only stop its key</source>
        <translation>Bloquer seulement sa clé</translation>
    </message>
    <message>
        <source>Move its points here</source>
        <translation>Transférer ses points ici</translation>
    </message>
    <message>
        <source>Key of the lost computer</source>
        <translation>Clé de l’ordinateur perdu</translation>
    </message>
    <message>
        <source>Its 43 characters, or the address of its page</source>
        <translation>Ses 43 caractères, ou l’adresse de sa page</translation>
    </message>
    <message>
        <source>In the full ranking, its name opens that page.</source>
        <translation>Dans le classement complet, son nom ouvre cette page.</translation>
    </message>
    <message>
        <source>Passphrase of the file</source>
        <translation>Phrase secrète du fichier</translation>
    </message>
    <message>
        <source>I know that this key can never be used again</source>
        <translation>Je sais que cette clé ne pourra plus jamais être utilisée</translation>
    </message>
    <message>
        <source>Its recovery key</source>
        <translation>Sa clé de récupération</translation>
    </message>
    <message>
        <source>Move the points</source>
        <translation>Transférer les points</translation>
    </message>
    <message>
        <source>Stop the key</source>
        <translation>Bloquer la clé</translation>
    </message>
    <message>
        <source>A new key on this computer gets the points, standing, name and team of the lost one. The key that this computer has now is kept aside, with its own points.</source>
        <translation>Une nouvelle clé sur cet ordinateur reçoit les points, le statut, le nom et l’équipe de celle qui est perdue. La clé actuelle de cet ordinateur est mise de côté, avec ses propres points.</translation>
    </message>
    <message>
        <source>It earns nothing more. You can still move its points later.</source>
        <translation>Elle ne rapporte plus rien. Vous pourrez encore transférer ses points plus tard.</translation>
    </message>
</context>
<context>
    <name>ModelPage</name>
    <message>
        <source>The model that this computer helps to train.</source>
        <translation>Le modèle que cet ordinateur aide à entraîner.</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modèle</translation>
    </message>
    <message>
        <source>No run yet</source>
        <translation>Pas encore d’entraînement</translation>
    </message>
    <message>
        <source>Once this computer is in a run, you can see here what its model learns.</source>
        <translation>Dès que cet ordinateur participera à un entraînement, vous verrez ici ce que son modèle apprend.</translation>
    </message>
    <message>
        <source>Open Runs</source>
        <translation>Ouvrir Entraînements</translation>
    </message>
    <message>
        <source>{run}: the model that this computer helps to train.</source>
        <translation>{run} : le modèle que cet ordinateur aide à entraîner.</translation>
    </message>
    <message>
        <source>Couldn't read the measures of this model. Tequio keeps trying.</source>
        <translation>Impossible de lire les mesures de ce modèle. Tequio continue d’essayer.</translation>
    </message>
    <message>
        <source>The model got worse: after round {number}, it guesses unseen text less well than after round {best}. Several members measured it and agree. The organisers can pause the run and go back to an earlier model.</source>
        <translation>Le modèle est devenu moins bon : après la manche {number}, il devine moins bien un texte inconnu qu’après la manche {best}. Plusieurs membres l’ont mesuré et sont d’accord. Les organisateurs peuvent mettre l’entraînement en pause et revenir à un modèle antérieur.</translation>
    </message>
    <message>
        <source>This model has not been measured yet. Some members measure it every few rounds if the run's rules say so, and the results appear here.</source>
        <translation>Ce modèle n’a pas encore été mesuré. Si les règles de l’entraînement le prévoient, quelques membres le mesurent toutes les quelques manches, et les résultats apparaissent ici.</translation>
    </message>
    <message>
        <source>Asking the network how well the model does.</source>
        <translation>On demande au réseau ce que vaut le modèle.</translation>
    </message>
    <message>
        <source>{problem}. Tequio will keep trying.</source>
        <translation>{problem}. Tequio continue d’essayer.</translation>
    </message>
    <message>
        <source>Couldn't load the model</source>
        <translation>Impossible de charger le modèle</translation>
    </message>
    <message>
        <source>Looking for the model</source>
        <translation>Recherche du modèle</translation>
    </message>
    <message>
        <source>Asking the network which run this computer is in.</source>
        <translation>On demande au réseau à quel entraînement participe cet ordinateur.</translation>
    </message>
</context>
<context>
    <name>NameControl</name>
    <message>
        <source>Choose…</source>
        <translation>Choisir…</translation>
    </message>
    <message>
        <source>Change…</source>
        <translation>Modifier…</translation>
    </message>
    <message>
        <source>You can choose a name once a round has accepted your work.</source>
        <translation>Vous pourrez choisir un nom dès qu’une manche aura accepté votre travail.</translation>
    </message>
</context>
<context>
    <name>NameDialog</name>
    <message>
        <source>Public name</source>
        <translation>Nom public</translation>
    </message>
    <message>
        <source>The name is unique in this network. You can change it once every 30 days, and nobody else can take your former name for that long.</source>
        <translation>Le nom est unique dans ce réseau. Vous pouvez le changer une fois tous les 30 jours ; pendant ce temps, personne ne peut prendre votre ancien nom.</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Nom</translation>
    </message>
    <message>
        <source>No name</source>
        <translation>Aucun nom</translation>
    </message>
    <message>
        <source>Names are public and permanent: old ones stay in the log.</source>
        <translation>Les noms sont publics et permanents : les anciens restent dans le journal.</translation>
    </message>
    <message>
        <source>2 to 32 letters of one script and digits, with single spaces, hyphens or underscores between them.</source>
        <translation>2 à 32 lettres d’un même alphabet et chiffres, séparés au plus par un espace, un trait d’union ou un tiret bas.</translation>
    </message>
    <message>
        <source>This is not a possible name: use 2 to 32 letters of one script and digits, with single spaces, hyphens or underscores between them.</source>
        <translation>Ce nom n’est pas possible : utilisez 2 à 32 lettres d’un même alphabet et chiffres, séparés au plus par un espace, un trait d’union ou un tiret bas.</translation>
    </message>
    <message>
        <source>Remove the name</source>
        <translation>Retirer le nom</translation>
    </message>
    <message>
        <source>Use this name</source>
        <translation>Utiliser ce nom</translation>
    </message>
</context>
<context>
    <name>NetworkChooser</name>
    <message>
        <source>Address or invitation link</source>
        <translation>Adresse ou lien d’invitation</translation>
    </message>
    <message>
        <source>Join</source>
        <translation>Rejoindre</translation>
    </message>
    <message>
        <source>Or paste an address</source>
        <translation>Ou collez une adresse</translation>
    </message>
    <message>
        <source>Paste an address</source>
        <translation>Collez une adresse</translation>
    </message>
    <message>
        <source>Organisers publish the address of their network's ledger, or send you an invitation link. Nothing is lent by joining.</source>
        <translation>Les organisateurs publient l’adresse du registre de leur réseau, ou vous envoient un lien d’invitation. Rejoindre un réseau ne prête encore rien.</translation>
    </message>
    <message>
        <source>This link is not complete. Copy all of it, from {scheme}:// to its end.</source>
        <translation>Ce lien n’est pas complet. Copiez-le en entier, de {scheme}:// jusqu’à la fin.</translation>
    </message>
    <message>
        <source>Looking for a ledger at {address}…</source>
        <translation>Recherche d’un registre à {address}…</translation>
    </message>
    <message>
        <source>“{name}” is not the network that your key and points belong to. To join it as well, start the app with another folder: tequio app --dir {folder}</source>
        <translation>« {name} » n’est pas le réseau auquel appartiennent votre clé et vos points. Pour le rejoindre aussi, lancez l’application avec un autre dossier : tequio app --dir {folder}</translation>
    </message>
    <message>
        <source>Its log must be signed by independent witnesses, too.</source>
        <translation>Son journal doit aussi être signé par des témoins indépendants.</translation>
    </message>
</context>
<context>
    <name>NetworkPanel</name>
    <message>
        <source>First, choose a network</source>
        <translation>Choisissez d’abord un réseau</translation>
    </message>
    <message>
        <source>Another network…</source>
        <translation>Autre réseau…</translation>
    </message>
    <message>
        <source>Network: {ledger}</source>
        <translation>Réseau : {ledger}</translation>
    </message>
</context>
<context>
    <name>NewKeyCard</name>
    <message>
        <source>Make my key</source>
        <translation>Créer ma clé</translation>
    </message>
    <message>
        <source>I have one already…</source>
        <translation>J’en ai déjà une…</translation>
    </message>
    <message>
        <source>Where should it be stored?</source>
        <translation>Où doit-elle être conservée ?</translation>
    </message>
</context>
<context>
    <name>NewPassphrase</name>
    <message>
        <source>Passphrase</source>
        <translation>Phrase secrète</translation>
    </message>
    <message>
        <source>Repeat the passphrase</source>
        <translation>La même phrase secrète, encore une fois</translation>
    </message>
    <message>
        <source>Show what I type</source>
        <translation>Afficher ma saisie</translation>
    </message>
    <message>
        <source>The two are not the same.</source>
        <translation>Les deux ne sont pas identiques.</translation>
    </message>
    <message>
        <source>At least {least} characters.</source>
        <translation>Au moins {least} caractères.</translation>
    </message>
    <message>
        <source>Longer is safer: four or five unrelated words do well.</source>
        <translation>Plus long, c’est plus sûr : quatre ou cinq mots sans rapport conviennent bien.</translation>
    </message>
    <message>
        <source>Nobody can reset it: without it the key cannot be opened.</source>
        <translation>Personne ne peut la réinitialiser : sans elle, la clé ne peut pas être ouverte.</translation>
    </message>
</context>
<context>
    <name>Notifier</name>
    <message>
        <source>Tequio goes on in the background</source>
        <translation>Tequio continue en arrière-plan</translation>
    </message>
    <message>
        <source>Its tray icon shows what it is doing, and opens this window again.</source>
        <translation>Son icône dans la barre indique ce qu’il fait et rouvre cette fenêtre.</translation>
    </message>
    <message>
        <source>{points} points so far. The log's proof was checked on this computer.</source>
        <translation>{points} points jusqu’ici. La preuve du journal a été vérifiée sur cet ordinateur.</translation>
    </message>
    <message>
        <source>Your first points are verified</source>
        <translation>Vos premiers points sont vérifiés</translation>
    </message>
    <message>
        <source>You are #{rank} of {ranked}</source>
        <translation>Vous êtes n° {rank} sur {ranked}</translation>
    </message>
    <message numerus="yes">
        <source>%n place(s) up since you were last told.</source>
        <translation>
            <numerusform>%n place gagnée depuis la dernière fois.</numerusform>
            <numerusform>%n places gagnées depuis la dernière fois.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n place(s) down since you were last told.</source>
        <translation>
            <numerusform>%n place perdue depuis la dernière fois.</numerusform>
            <numerusform>%n places perdues depuis la dernière fois.</numerusform>
        </translation>
    </message>
    <message>
        <source>The same place as last time.</source>
        <translation>La même place que la dernière fois.</translation>
    </message>
    <message>
        <source>From the network's organisers</source>
        <translation>De la part des organisateurs du réseau</translation>
    </message>
    <message>
        <source>Tequio needs your attention</source>
        <translation>Tequio a besoin de votre attention</translation>
    </message>
    <message>
        <source>Open Tequio</source>
        <translation>Ouvrir Tequio</translation>
    </message>
</context>
<context>
    <name>OrganiserNotices</name>
    <message>
        <source>From the organisers of this network: {text}</source>
        <translation>De la part des organisateurs de ce réseau : {text}</translation>
    </message>
    <message>
        <source>{run} is paused by its organisers: {text}</source>
        <translation>Les organisateurs ont mis {run} en pause : {text}</translation>
    </message>
    <message>
        <source>From the organisers of {run}: {text}</source>
        <translation>De la part des organisateurs de {run} : {text}</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>Masquer</translation>
    </message>
</context>
<context>
    <name>OwnTeamPane</name>
    <message>
        <source>Goal</source>
        <translation>Objectif</translation>
    </message>
    <message>
        <source>Members of the team</source>
        <translation>Membres de l’équipe</translation>
    </message>
    <message>
        <source>Join link</source>
        <translation>Lien pour rejoindre</translation>
    </message>
    <message>
        <source>Code</source>
        <translation>Code</translation>
    </message>
    <message>
        <source>Make a new link</source>
        <translation>Créer un nouveau lien</translation>
    </message>
    <message>
        <source>Close the link</source>
        <translation>Fermer le lien</translation>
    </message>
    <message>
        <source>Points of the goal</source>
        <translation>Points de l’objectif</translation>
    </message>
    <message>
        <source>No goal</source>
        <translation>Aucun objectif</translation>
    </message>
    <message>
        <source>Last day of the goal</source>
        <translation>Dernier jour de l’objectif</translation>
    </message>
    <message>
        <source>Set the goal</source>
        <translation>Fixer l’objectif</translation>
    </message>
    <message>
        <source>New name of the team</source>
        <translation>Nouveau nom de l’équipe</translation>
    </message>
    <message>
        <source>Use this name</source>
        <translation>Utiliser ce nom</translation>
    </message>
    <message>
        <source>Remove…</source>
        <translation>Retirer…</translation>
    </message>
    <message>
        <source>Hand over…</source>
        <translation>Transmettre…</translation>
    </message>
    <message>
        <source>Open its page</source>
        <translation>Ouvrir sa page</translation>
    </message>
    <message>
        <source>Leave the team…</source>
        <translation>Quitter l’équipe…</translation>
    </message>
    <message>
        <source>The organisers of the network withdrew the team's name. Choose another one.</source>
        <translation>Les organisateurs du réseau ont retiré le nom de l’équipe. Choisissez-en un autre.</translation>
    </message>
    <message>
        <source>The same as a code, for people in this network:</source>
        <translation>La même chose sous forme de code, pour les personnes de ce réseau :</translation>
    </message>
    <message>
        <source>Goal: {reached} of {goal} points by {day}</source>
        <translation>Objectif : {reached} points sur {goal} d’ici le {day}</translation>
    </message>
    <message>
        <source>Goal reached: {reached} of {goal} points by {day}</source>
        <translation>Objectif atteint : {reached} points sur {goal} d’ici le {day}</translation>
    </message>
    <message>
        <source>Everyone who has it can join until {day}. A new link ends this one.</source>
        <translation>Toute personne qui l’a peut rejoindre l’équipe jusqu’au {day}. Un nouveau lien met fin à celui-ci.</translation>
    </message>
    <message>
        <source>The present link was made with another key or ended.</source>
        <translation>Le lien actuel a été créé avec une autre clé, ou il a expiré.</translation>
    </message>
    <message>
        <source>Nobody can join at the moment.</source>
        <translation>Personne ne peut rejoindre l’équipe pour le moment.</translation>
    </message>
</context>
<context>
    <name>PeriodicQuestion</name>
    <message>
        <source>The worker does not answer</source>
        <translation>Le service d’arrière-plan ne répond pas</translation>
    </message>
</context>
<context>
    <name>PointsExport</name>
    <message>
        <source>the worker does not answer</source>
        <translation>le service d’arrière-plan ne répond pas</translation>
    </message>
    <message>
        <source>{file} was not written: {why}. Choose another place, or try again.</source>
        <translation>{file} n’a pas été écrit : {why}. Choisissez un autre emplacement, ou réessayez.</translation>
    </message>
</context>
<context>
    <name>PointsPage</name>
    <message>
        <source>Share…</source>
        <translation>Partager…</translation>
    </message>
    <message>
        <source>Export CSV</source>
        <translation>Exporter en CSV</translation>
    </message>
    <message>
        <source>Points</source>
        <translation>Points</translation>
    </message>
    <message>
        <source>Counted only when this computer has checked the proof in the ledger's log.</source>
        <translation>Ne comptent que lorsque cet ordinateur en a vérifié la preuve dans le journal du registre.</translation>
    </message>
    <message>
        <source>Export all rounds</source>
        <translation>Exporter toutes les manches</translation>
    </message>
    <message>
        <source>Comma-separated values (*.csv)</source>
        <translation>Valeurs séparées par des virgules (*.csv)</translation>
    </message>
    <message>
        <source>Processor</source>
        <translation>Processeur</translation>
    </message>
    <message>
        <source>Your key has no public page yet: it gets one when it joins the network.</source>
        <translation>Votre clé n’a pas encore de page publique : elle en aura une quand elle rejoindra le réseau.</translation>
    </message>
    <message>
        <source>The ledger says that you have {points} more points. This computer has not read and checked their log entries yet, so they are not counted here. It does so automatically.</source>
        <translation>Le registre indique que vous avez {points} points de plus. Leurs entrées dans son journal n’ont pas encore été lues et vérifiées ici, ils ne sont donc pas comptés. Cela se fait tout seul.</translation>
    </message>
    <message numerus="yes">
        <source>%Ln round(s) written to {file}</source>
        <translation>
            <numerusform>%Ln manche écrite dans {file}</numerusform>
            <numerusform>%Ln manches écrites dans {file}</numerusform>
        </translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Fermer</translation>
    </message>
</context>
<context>
    <name>PointsRange</name>
    <message>
        <source>Verified points over time</source>
        <translation>Points vérifiés</translation>
    </message>
    <message>
        <source>Time span</source>
        <translation>Période</translation>
    </message>
    <message>
        <source>24 h</source>
        <translation>24 h</translation>
    </message>
    <message>
        <source>7 days</source>
        <translation>7 jours</translation>
    </message>
    <message>
        <source>30 days</source>
        <translation>30 jours</translation>
    </message>
    <message>
        <source>All</source>
        <translation>Tout</translation>
    </message>
    <message>
        <source>No points were verified in this time.</source>
        <translation>Aucun point n’a été vérifié pendant cette période.</translation>
    </message>
    <message>
        <source>{total} points in this time</source>
        <translation>{total} points pendant cette période</translation>
    </message>
    <message>
        <source>{summary}; most at {when}: {points}</source>
        <translation>{summary} ; maximum {when} : {points}</translation>
    </message>
</context>
<context>
    <name>PointsSums</name>
    <message>
        <source>Verified</source>
        <translation>Vérifiés</translation>
    </message>
    <message>
        <source>Vesting</source>
        <translation>Provisoires</translation>
    </message>
    <message>
        <source>Pending</source>
        <translation>En attente</translation>
    </message>
    <message>
        <source>Rejected today</source>
        <translation>Refusées aujourd’hui</translation>
    </message>
    <message>
        <source>{points} today</source>
        <translation>{points} aujourd’hui</translation>
    </message>
    <message>
        <source>Rounds that are not proven yet</source>
        <translation>Manches sans preuve</translation>
    </message>
    <message>
        <source>Nothing pending</source>
        <translation>Rien en attente</translation>
    </message>
    <message>
        <source>Rounds that gave nothing</source>
        <translation>Manches sans points</translation>
    </message>
    <message>
        <source>None today</source>
        <translation>Aucune aujourd’hui</translation>
    </message>
    <message>
        <source>{points} were forfeited</source>
        <translation>{points} ont été perdus</translation>
    </message>
    <message>
        <source>Final after a few more rounds</source>
        <translation>Acquis après quelques manches</translation>
    </message>
    <message>
        <source>All points are final</source>
        <translation>Tous sont définitifs</translation>
    </message>
</context>
<context>
    <name>PresetPicker</name>
    <message>
        <source>Preset</source>
        <translation>Profil</translation>
    </message>
    <message>
        <source>Gentle</source>
        <translation>Doux</translation>
    </message>
    <message>
        <source>Starts after 15 min without input. Pauses for films, and when other programs use a quarter of the CPU.</source>
        <translation>Démarre après 15 min sans activité. Se met en pause pendant les films, et quand d’autres programmes utilisent un quart du processeur.</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>Équilibré</translation>
    </message>
    <message>
        <source>Starts after 5 min without input. Continues during films; other programs may use half of the CPU.</source>
        <translation>Démarre après 5 min sans activité. Continue pendant les films ; les autres programmes peuvent utiliser la moitié du processeur.</translation>
    </message>
    <message>
        <source>Max</source>
        <translation>Maximum</translation>
    </message>
    <message>
        <source>Starts after 1 min without input, and runs gently while you use the computer. Other programs may use three quarters of the CPU.</source>
        <translation>Démarre après 1 min sans activité, et tourne doucement pendant que vous utilisez l’ordinateur. Les autres programmes peuvent utiliser les trois quarts du processeur.</translation>
    </message>
    <message>
        <source>You have changed settings that presets cover. A preset changes only the settings named on its card.</source>
        <translation>Vous avez modifié des paramètres qui font partie des profils. Un profil ne change que les paramètres indiqués sur sa carte.</translation>
    </message>
    <message>
        <source>Use Max</source>
        <translation>Utiliser Maximum</translation>
    </message>
    <message>
        <source>Preset: {preset}</source>
        <translation>Profil : {preset}</translation>
    </message>
</context>
<context>
    <name>ProgramPicker</name>
    <message>
        <source>Choose a program</source>
        <translation>Choisir un programme</translation>
    </message>
    <message>
        <source>Name of the program</source>
        <translation>Nom du programme</translation>
    </message>
    <message>
        <source>Search, or type a name such as blender</source>
        <translation>Cherchez, ou saisissez un nom tel que blender</translation>
    </message>
    <message>
        <source>Programs running now</source>
        <translation>Programmes en cours</translation>
    </message>
    <message>
        <source>Looking for programs…</source>
        <translation>Recherche de programmes…</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>Ajouter</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Annuler</translation>
    </message>
    <message>
        <source>No running program has this name. Add uses it as you typed it.</source>
        <translation>Aucun programme en cours ne porte ce nom. Ajouter le retient tel que vous l’avez saisi.</translation>
    </message>
    <message>
        <source>Nothing is lent while it runs. Pick a running program, or type its name.</source>
        <translation>Rien n’est prêté pendant qu’il tourne. Choisissez un programme en cours, ou saisissez son nom.</translation>
    </message>
</context>
<context>
    <name>ProtectionDialog</name>
    <message>
        <source>How your key is kept</source>
        <translation>Conservation de votre clé</translation>
    </message>
    <message>
        <source>The key stays the same. Backups that you have made remain valid.</source>
        <translation>La clé reste la même. Les sauvegardes que vous avez faites restent valables.</translation>
    </message>
    <message>
        <source>Store it this way</source>
        <translation>Conserver ainsi</translation>
    </message>
</context>
<context>
    <name>ProtectionPanel</name>
    <message>
        <source>In this system's keyring</source>
        <translation>Dans le trousseau de ce système</translation>
    </message>
    <message>
        <source>Unlocked automatically while you are logged in. The file alone is worth nothing.</source>
        <translation>Déverrouillée automatiquement tant que votre session est ouverte. Le fichier seul ne vaut rien.</translation>
    </message>
    <message>
        <source>Under a passphrase</source>
        <translation>Sous une phrase secrète</translation>
    </message>
    <message>
        <source>Tequio asks for it at each start, so it can't start lending automatically at login.</source>
        <translation>Tequio la demande à chaque démarrage, et ne peut donc pas commencer à prêter dès l’ouverture de session.</translation>
    </message>
    <message>
        <source>In an unencrypted file</source>
        <translation>Dans un fichier non chiffré</translation>
    </message>
    <message>
        <source>Only your user account can read it. For servers and computers that nobody else uses.</source>
        <translation>Seul votre compte peut le lire. Pour les serveurs et les ordinateurs que personne d’autre n’utilise.</translation>
    </message>
    <message>
        <source>Not encrypted: any program that you run can read the key and take your points, and so can anyone with a copy of this disk or of your files.</source>
        <translation>Non chiffrée : tout programme que vous lancez peut lire la clé et prendre vos points, de même que toute personne qui a une copie de ce disque ou de vos fichiers.</translation>
    </message>
</context>
<context>
    <name>PublishedRow</name>
    <message>
        <source>Open</source>
        <translation>Ouvrir</translation>
    </message>
    <message>
        <source>Round {number}, on the Hugging Face Hub</source>
        <translation>Manche {number}, sur le Hugging Face Hub</translation>
    </message>
    <message>
        <source>Open round {number} of {repo} in the browser</source>
        <translation>Ouvrir la manche {number} de {repo} dans le navigateur</translation>
    </message>
</context>
<context>
    <name>RaceChart</name>
    <message>
        <source>Round {number}</source>
        <translation>Manche {number}</translation>
    </message>
</context>
<context>
    <name>RankingCard</name>
    <message>
        <source>Around you</source>
        <translation>Autour de vous</translation>
    </message>
    <message>
        <source>Ranking around you</source>
        <translation>Le classement autour de vous</translation>
    </message>
    <message>
        <source>Full ranking</source>
        <translation>Classement complet</translation>
    </message>
    <message>
        <source>Not ranked yet</source>
        <translation>Pas encore classé</translation>
    </message>
    <message>
        <source>After your first verified round you see who has about as many points.</source>
        <translation>Après votre première manche vérifiée, vous verrez qui a à peu près autant de points.</translation>
    </message>
    <message>
        <source>No ranking now</source>
        <translation>Pas de classement en ce moment</translation>
    </message>
    <message>
        <source>The network does not answer. Tequio keeps trying.</source>
        <translation>Le réseau ne répond pas. Tequio continue d’essayer.</translation>
    </message>
</context>
<context>
    <name>RankingRows</name>
    <message>
        <source>Volunteer</source>
        <translation>Volontaire</translation>
    </message>
    <message>
        <source>Points</source>
        <translation>Points</translation>
    </message>
    <message>
        <source>{name} (you)</source>
        <translation>{name} (vous)</translation>
    </message>
    <message>
        <source>You</source>
        <translation>Vous</translation>
    </message>
</context>
<context>
    <name>ReachabilityChip</name>
    <message>
        <source>Yes</source>
        <translation>Oui</translation>
    </message>
    <message>
        <source>No</source>
        <translation>Non</translation>
    </message>
    <message>
        <source>Not known yet</source>
        <translation>Pas encore connu</translation>
    </message>
</context>
<context>
    <name>Readings</name>
    <message>
        <source>Load</source>
        <translation>Charge</translation>
    </message>
    <message>
        <source>Other programs</source>
        <translation>Autres programmes</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Mémoire</translation>
    </message>
    <message>
        <source>VRAM</source>
        <translation>VRAM</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>Température</translation>
    </message>
    <message>
        <source>Power</source>
        <translation>Puissance</translation>
    </message>
</context>
<context>
    <name>ReadyStep</name>
    <message>
        <source>Ready</source>
        <translation>Tout est prêt</translation>
    </message>
    <message>
        <source>Your choices apply once you press the button below.</source>
        <translation>Vos choix s’appliquent dès que vous appuyez sur le bouton ci-dessous.</translation>
    </message>
    <message>
        <source>Contribute</source>
        <translation>Contribuer</translation>
    </message>
    <message>
        <source>What happens next</source>
        <translation>La suite</translation>
    </message>
    <message>
        <source>Closing the window hides it; the tray icon shows the state, and pauses everything with two clicks.</source>
        <translation>Fermer la fenêtre la masque ; l’icône dans la barre montre l’état, et met tout en pause en deux clics.</translation>
    </message>
    <message>
        <source>Join and download</source>
        <translation>Rejoindre et télécharger</translation>
    </message>
    <message>
        <source>Begin when you are away</source>
        <translation>Commencer en votre absence</translation>
    </message>
    <message>
        <source>First points</source>
        <translation>Premiers points</translation>
    </message>
    <message>
        <source>They are pending when your first round ends, and verified when the ledger has closed it and your computer has checked the proof, usually one round later.</source>
        <translation>Ils sont en attente à la fin de votre première manche, et vérifiés une fois que le registre l’a close et que votre ordinateur a contrôlé la preuve, en général une manche plus tard.</translation>
    </message>
    <message>
        <source>Gentle</source>
        <translation>Doux</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>Équilibré</translation>
    </message>
    <message>
        <source>Max</source>
        <translation>Maximum</translation>
    </message>
    <message>
        <source>Starts at login</source>
        <translation>Se lance à l’ouverture de session</translation>
    </message>
    <message>
        <source>Starts by hand</source>
        <translation>Se lance à la main</translation>
    </message>
    <message>
        <source>Run: as chosen</source>
        <translation>Entraînement : celui choisi</translation>
    </message>
    <message>
        <source>Run: automatic</source>
        <translation>Entraînement : automatique</translation>
    </message>
    <message>
        <source>No network yet</source>
        <translation>Pas encore de réseau</translation>
    </message>
    <message>
        <source>Key not backed up</source>
        <translation>Clé non sauvegardée</translation>
    </message>
    <message>
        <source>Tequio joins the run that you chose, and downloads its model and first data once.</source>
        <translation>L’ordinateur rejoint l’entraînement que vous avez choisi ; son modèle et ses premières données sont téléchargés une fois.</translation>
    </message>
    <message>
        <source>Tequio joins the run that fits best, and downloads its model and first data once.</source>
        <translation>L’ordinateur rejoint l’entraînement le mieux adapté ; son modèle et ses premières données sont téléchargés une fois.</translation>
    </message>
    <message>
        <source>{run}: {data} to download once, about {time} at 50 Mbit/s.</source>
        <translation>{run} : {data} sont téléchargés une fois, environ {time} sur une ligne à 50 Mbit/s.</translation>
    </message>
    <message>
        <source>First it downloads what training needs, once: {size}, {disk} on the disk.</source>
        <translation>Avant cela vient, une seule fois, ce qu’il faut pour entraîner : {size}, {disk} sur le disque.</translation>
    </message>
    <message numerus="yes">
        <source>%n minute(s) after your last input. A key or the mouse stops it.</source>
        <translation>
            <numerusform>%n minute après votre dernière action. Une touche ou la souris l’arrête.</numerusform>
            <numerusform>%n minutes après votre dernière action. Une touche ou la souris l’arrête.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Immediately at {share} of the time, and fully %n minute(s) after your last input.</source>
        <translation>
            <numerusform>Tout de suite à {share} du temps, et à plein %n minute après votre dernière action.</numerusform>
            <numerusform>Tout de suite à {share} du temps, et à plein %n minutes après votre dernière action.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RecoveryControl</name>
    <message>
        <source>Make one…</source>
        <translation>Créer…</translation>
    </message>
    <message>
        <source>Not known yet</source>
        <translation>Pas encore connu</translation>
    </message>
    <message>
        <source>Set</source>
        <translation>Créée</translation>
    </message>
    <message>
        <source>Change it…</source>
        <translation>Changer…</translation>
    </message>
    <message>
        <source>None yet</source>
        <translation>Pas encore</translation>
    </message>
</context>
<context>
    <name>RecoveryDialog</name>
    <message>
        <source>Make a recovery key</source>
        <translation>Créer une clé de récupération</translation>
    </message>
    <message>
        <source>If this computer is stolen or breaks, the recovery key stops its key and moves your points to a new one. Keep it away from this computer.</source>
        <translation>Si cet ordinateur est volé ou tombe en panne, la clé de récupération bloque sa clé et transfère vos points vers une nouvelle. Gardez-la loin de cet ordinateur.</translation>
    </message>
    <message>
        <source>Change the recovery key</source>
        <translation>Changer la clé de récupération</translation>
    </message>
    <message>
        <source>Passphrase of the file</source>
        <translation>Phrase secrète du fichier</translation>
    </message>
    <message>
        <source>The present recovery key</source>
        <translation>La clé de récupération actuelle</translation>
    </message>
    <message>
        <source>The new one</source>
        <translation>La nouvelle</translation>
    </message>
    <message>
        <source>Store it as</source>
        <translation>L’enregistrer comme</translation>
    </message>
    <message>
        <source>24 words</source>
        <translation>24 mots</translation>
    </message>
    <message>
        <source>A file</source>
        <translation>Un fichier</translation>
    </message>
    <message>
        <source>The file is sealed under a passphrase. Put it on a USB stick or another computer.</source>
        <translation>Le fichier est chiffré par une phrase secrète. Mettez-le sur une clé USB ou un autre ordinateur.</translation>
    </message>
    <message>
        <source>Save the file…</source>
        <translation>Enregistrer le fichier…</translation>
    </message>
    <message>
        <source>Show the words</source>
        <translation>Afficher les mots</translation>
    </message>
    <message>
        <source>I have written them down</source>
        <translation>Je les ai notés</translation>
    </message>
    <message>
        <source>Use this recovery key</source>
        <translation>Utiliser cette clé de récupération</translation>
    </message>
    <message>
        <source>Save the recovery key</source>
        <translation>Enregistrer la clé de récupération</translation>
    </message>
</context>
<context>
    <name>ReleaseService</name>
    <message>
        <source>Try again</source>
        <translation>Réessayer</translation>
    </message>
    <message>
        <source>Version {version} is ready, and starts the next time Tequio starts.</source>
        <translation>La version {version} est prête, et démarrera au prochain lancement de Tequio.</translation>
    </message>
    <message>
        <source>Restart now</source>
        <translation>Redémarrer maintenant</translation>
    </message>
    <message>
        <source>Before this computer can train, it needs a download of {size}, which takes {disk} on the disk.</source>
        <translation>Avant d’entraîner, cet ordinateur doit télécharger {size}, qui occuperont {disk} sur le disque.</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>Télécharger</translation>
    </message>
    <message>
        <source>Testing what was downloaded…</source>
        <translation>Test du téléchargement…</translation>
    </message>
    <message>
        <source>Downloading what training needs</source>
        <translation>Téléchargement de ce qu’il faut pour entraîner</translation>
    </message>
    <message>
        <source>Downloading version {version}</source>
        <translation>Téléchargement de la version {version}</translation>
    </message>
    <message>
        <source>{what}: {done} of {total}</source>
        <translation>{what} : {done} sur {total}</translation>
    </message>
    <message>
        <source>The updater stopped unexpectedly.</source>
        <translation>Le programme de mise à jour s’est arrêté de manière inattendue.</translation>
    </message>
    <message>
        <source>There is no newer version of Tequio yet.</source>
        <translation>Il n’y a pas encore de version plus récente de Tequio.</translation>
    </message>
</context>
<context>
    <name>ReplaceControl</name>
    <message>
        <source>Replace…</source>
        <translation>Remplacer…</translation>
    </message>
</context>
<context>
    <name>ReplaceDialog</name>
    <message>
        <source>Replace this computer's key</source>
        <translation>Remplacer la clé de cet ordinateur</translation>
    </message>
    <message>
        <source>A new key takes over your points, standing, name and team. Do this if somebody else may have seen the key. It does not end a quarantine.</source>
        <translation>Une nouvelle clé reprend vos points, votre statut, votre nom et votre équipe. À faire si quelqu’un d’autre a pu voir la clé. Cela ne met pas fin à une quarantaine.</translation>
    </message>
    <message>
        <source>Replace the key</source>
        <translation>Remplacer la clé</translation>
    </message>
    <message>
        <source>Passphrase of the file</source>
        <translation>Phrase secrète du fichier</translation>
    </message>
    <message>
        <source>Your recovery key</source>
        <translation>Votre clé de récupération</translation>
    </message>
    <message>
        <source>I know that the present key can never be used again</source>
        <translation>Je sais que la clé actuelle ne pourra plus jamais être utilisée</translation>
    </message>
    <message>
        <source>Afterwards, back up the new key: old backups become worthless.</source>
        <translation>Ensuite, sauvegardez la nouvelle clé : les anciennes sauvegardes ne vaudront plus rien.</translation>
    </message>
</context>
<context>
    <name>ResetButton</name>
    <message>
        <source>Reset all settings</source>
        <translation>Réinitialiser tous les paramètres</translation>
    </message>
    <message>
        <source>All settings have their defaults again.</source>
        <translation>Tous les paramètres ont retrouvé leurs valeurs par défaut.</translation>
    </message>
</context>
<context>
    <name>RestoreDialog</name>
    <message>
        <source>Restore a key</source>
        <translation>Restaurer une clé</translation>
    </message>
    <message>
        <source>With your earlier key you are the same volunteer, with the same points. Use it on one computer at a time. A key that is here now is kept aside.</source>
        <translation>Avec votre ancienne clé, vous êtes le même volontaire, avec les mêmes points. Utilisez-la sur un seul ordinateur à la fois. Une clé déjà présente ici est mise de côté.</translation>
    </message>
    <message>
        <source>Restore</source>
        <translation>Restaurer</translation>
    </message>
    <message>
        <source>Passphrase of the backup</source>
        <translation>Phrase secrète de la sauvegarde</translation>
    </message>
    <message>
        <source>How it is kept here</source>
        <translation>Comment elle est conservée ici</translation>
    </message>
</context>
<context>
    <name>ResultCard</name>
    <message>
        <source>Result</source>
        <translation>Résultat</translation>
    </message>
    <message>
        <source>bits per byte and perplexity per byte, lower is better</source>
        <translation>bits par octet et perplexité par octet, moins, c’est mieux</translation>
    </message>
    <message>
        <source>The dot is the score. If other texts of the same kind had been drawn, it would lie within the bar 95 times in 100. Entrants that cannot be told apart share a place.</source>
        <translation>Le point est la note. Avec d’autres textes du même genre, elle serait restée dans la barre 95 fois sur 100. Les participants que rien ne départage partagent une place.</translation>
    </message>
    <message>
        <source>Check it yourself</source>
        <translation>Vérifiez par vous-même</translation>
    </message>
    <message>
        <source>The command that checks it</source>
        <translation>La commande qui le vérifie</translation>
    </message>
    <message>
        <source>Not ranked: too few of the drawn evaluators scored the entrants.</source>
        <translation>Sans classement : trop peu des évaluateurs tirés au sort ont noté les participants.</translation>
    </message>
</context>
<context>
    <name>ResultTable</name>
    <message>
        <source>Places</source>
        <translation>Places</translation>
    </message>
    <message>
        <source>{name}: not ranked</source>
        <translation>{name} : non classé</translation>
    </message>
    <message>
        <source>Place {rank}, {name}: {score} bits per byte, between {low} and {high}; perplexity {perplexity} per byte</source>
        <translation>Place {rank}, {name} : {score} bits par octet, entre {low} et {high} ; perplexité {perplexity} par octet</translation>
    </message>
</context>
<context>
    <name>RoleCard</name>
    <message>
        <source>What this computer can do instead</source>
        <translation>Ce que cet ordinateur peut faire à la place</translation>
    </message>
    <message>
        <source>Role</source>
        <translation>Son rôle</translation>
    </message>
    <message>
        <source>Witness (fits best)</source>
        <translation>Témoin (le plus adapté)</translation>
    </message>
    <message>
        <source>Train on the processor</source>
        <translation>Entraîner sur le processeur</translation>
    </message>
    <message>
        <source>Slower than any graphics card, and for small models only. Earns a few points.</source>
        <translation>Plus lent que toute carte graphique, et pour de petits modèles seulement. Rapporte quelques points.</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>Automatique</translation>
    </message>
    <message>
        <source>Both: trains the model, and checks the work of others.</source>
        <translation>Les deux : entraîne le modèle et vérifie le travail des autres.</translation>
    </message>
    <message>
        <source>Checks the work of others and signs what is correct. It trains nothing and uses little electricity.</source>
        <translation>Vérifie le travail des autres et signe ce qui est juste. Il n’entraîne rien et consomme peu d’électricité.</translation>
    </message>
    <message>
        <source>Earns a small part of what training earns.</source>
        <translation>Rapporte une petite part de ce que rapporte l’entraînement.</translation>
    </message>
    <message>
        <source>All witnesses of a round share {percent} of what its trainers earn.</source>
        <translation>Tous les témoins d’une manche se partagent {percent} de ce que gagnent ses entraîneurs.</translation>
    </message>
</context>
<context>
    <name>RoundCard</name>
    <message>
        <source>Round</source>
        <translation>Manche</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>Entraînement</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>Perte</translation>
    </message>
    <message>
        <source>Bits per byte</source>
        <translation>Bits par octet</translation>
    </message>
    <message>
        <source>Perplexity</source>
        <translation>Perplexité</translation>
    </message>
    <message>
        <source>The model and its data are fetched once; then the first round begins.</source>
        <translation>Le modèle et ses données sont téléchargés une fois ; puis la première manche commence.</translation>
    </message>
    <message>
        <source>Once this computer has joined a run, it trains round by round.</source>
        <translation>Une fois qu’il a rejoint un entraînement, cet ordinateur progresse manche après manche.</translation>
    </message>
    <message>
        <source>Joining a run</source>
        <translation>Rejoint un entraînement</translation>
    </message>
    <message>
        <source>No round now</source>
        <translation>Pas de manche en ce moment</translation>
    </message>
    <message>
        <source>of round</source>
        <translation>effectués</translation>
    </message>
    <message>
        <source>Trainer</source>
        <translation>Entraîneur</translation>
    </message>
    <message>
        <source>Witness</source>
        <translation>Témoin</translation>
    </message>
    <message>
        <source>No role yet</source>
        <translation>Pas encore de rôle</translation>
    </message>
    <message>
        <source>Auditor</source>
        <translation>Auditeur</translation>
    </message>
    <message>
        <source>Not taking part</source>
        <translation>Ne participe pas</translation>
    </message>
    <message>
        <source>Round {number} of {rounds}</source>
        <translation>Manche {number} sur {rounds}</translation>
    </message>
    <message>
        <source>Round {number}</source>
        <translation>Manche {number}</translation>
    </message>
    <message numerus="yes">
        <source>%Ln peer(s)</source>
        <translation>
            <numerusform>%Ln pair</numerusform>
            <numerusform>%Ln pairs</numerusform>
        </translation>
    </message>
    <message>
        <source>{time} left</source>
        <translation>encore {time}</translation>
    </message>
</context>
<context>
    <name>RoundDialog</name>
    <message>
        <source>{run}, round {number}</source>
        <translation>{run}, manche {number}</translation>
    </message>
    <message>
        <source>Shared by others</source>
        <translation>Partagés par d’autres</translation>
    </message>
    <message>
        <source>When</source>
        <translation>Quand</translation>
    </message>
    <message>
        <source>Points</source>
        <translation>Points</translation>
    </message>
    <message>
        <source>For training</source>
        <translation>Pour l’entraînement</translation>
    </message>
    <message>
        <source>For checking others' work</source>
        <translation>Pour la vérification du travail des autres</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Appareil</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Tokens</translation>
    </message>
    <message>
        <source>Energy</source>
        <translation>Énergie</translation>
    </message>
    <message>
        <source>Ledger</source>
        <translation>Registre</translation>
    </message>
    <message>
        <source>Log entry</source>
        <translation>Entrée du journal</translation>
    </message>
    <message>
        <source>Checkpoint, entries</source>
        <translation>Point de contrôle, entrées</translation>
    </message>
    <message>
        <source>Checkpoint, root</source>
        <translation>Point de contrôle, racine</translation>
    </message>
    <message>
        <source>What was checked here</source>
        <translation>Ce qui a été vérifié ici</translation>
    </message>
    <message>
        <source>This computer fetched the end of the round from the ledger's public log, read in it what you get, and checked that it is in the log that the ledger has signed. Nobody can change or remove it later without that showing.</source>
        <translation>Cet ordinateur a récupéré la fin de la manche dans le journal public du registre, y a lu ce qui vous revient, et a vérifié qu’elle figure dans le journal que le registre a signé. Personne ne peut la modifier ni la retirer ensuite sans que cela se voie.</translation>
    </message>
    <message>
        <source>To check the whole ledger yourself, run:</source>
        <translation>Pour vérifier vous-même tout le registre, exécutez :</translation>
    </message>
    <message>
        <source>The command that checks it</source>
        <translation>La commande qui le vérifie</translation>
    </message>
    <message>
        <source>The round is not closed yet, or its end was not found in the ledger's signed log yet. Its points count when this computer has checked that.</source>
        <translation>La manche n’est pas encore close, ou sa fin n’a pas encore été trouvée dans le journal signé du registre. Ses points comptent une fois que cet ordinateur l’a vérifié.</translation>
    </message>
    <message>
        <source>This round gave no points, so there is nothing to prove.</source>
        <translation>Cette manche n’a rapporté aucun point, il n’y a donc rien à prouver.</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Copier</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Fermer</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Copié</translation>
    </message>
</context>
<context>
    <name>RoundsCard</name>
    <message>
        <source>Run</source>
        <translation>Entraînement</translation>
    </message>
    <message>
        <source>All runs</source>
        <translation>Tous les entraînements</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Appareil</translation>
    </message>
    <message>
        <source>All devices</source>
        <translation>Tous les appareils</translation>
    </message>
    <message>
        <source>Rounds</source>
        <translation>Manches</translation>
    </message>
    <message>
        <source>Looking</source>
        <translation>Chargement</translation>
    </message>
    <message>
        <source>Reading the rounds of this key.</source>
        <translation>Lecture des manches de cette clé.</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Réessayer</translation>
    </message>
    <message>
        <source>Older rounds are read as you scroll.</source>
        <translation>Les manches plus anciennes se chargent en faisant défiler.</translation>
    </message>
    <message>
        <source>Couldn't load the rounds</source>
        <translation>Impossible de charger les manches</translation>
    </message>
    <message>
        <source>No round of that run was worked in on that device.</source>
        <translation>Aucune manche de cet entraînement n’a été travaillée sur cet appareil.</translation>
    </message>
    <message>
        <source>No matches</source>
        <translation>Aucune</translation>
    </message>
    <message>
        <source>Each round that this computer takes part in will appear here, with what it gave and the proof.</source>
        <translation>Chaque manche à laquelle cet ordinateur participe apparaîtra ici, avec ce qu’elle a rapporté et la preuve.</translation>
    </message>
    <message>
        <source>No round yet</source>
        <translation>Pas encore de manche</translation>
    </message>
</context>
<context>
    <name>RoundsRows</name>
    <message>
        <source>Round</source>
        <translation>Manche</translation>
    </message>
    <message>
        <source>When</source>
        <translation>Quand</translation>
    </message>
    <message>
        <source>State</source>
        <translation>État</translation>
    </message>
    <message>
        <source>Device, tokens</source>
        <translation>Appareil, tokens</translation>
    </message>
    <message>
        <source>Energy</source>
        <translation>Énergie</translation>
    </message>
    <message>
        <source>Points</source>
        <translation>Points</translation>
    </message>
    <message>
        <source>Proof</source>
        <translation>Preuve</translation>
    </message>
    <message>
        <source>Round {number}</source>
        <translation>Manche {number}</translation>
    </message>
    <message>
        <source>{count} tokens</source>
        <translation>{count} tokens</translation>
    </message>
    <message>
        <source>{points} as witness</source>
        <translation>{points} comme témoin</translation>
    </message>
    <message>
        <source>Proof checked by this computer: open to see what that means</source>
        <translation>Preuve vérifiée par cet ordinateur : ouvrez pour voir ce que cela veut dire</translation>
    </message>
    <message>
        <source>No proof was checked yet</source>
        <translation>Aucune preuve vérifiée pour l’instant</translation>
    </message>
</context>
<context>
    <name>RulesCard</name>
    <message>
        <source>Rules</source>
        <translation>Règles</translation>
    </message>
    <message>
        <source>What an entrant may use</source>
        <translation>Ce qu’un participant peut utiliser</translation>
    </message>
    <message>
        <source>Texts that nobody has seen</source>
        <translation>Des textes que personne n’a vus</translation>
    </message>
    <message>
        <source>How it is scored</source>
        <translation>Comment c’est noté</translation>
    </message>
    <message>
        <source>Why it can be believed</source>
        <translation>Pourquoi on peut s’y fier</translation>
    </message>
    <message>
        <source>Training data</source>
        <translation>Données d’entraînement</translation>
    </message>
    <message>
        <source>Rules about training data</source>
        <translation>Règles sur les données d’entraînement</translation>
    </message>
    <message>
        <source>How many bits a model needs for each byte of the texts: fewer are better. Perplexity per byte is 2 to the power of these bits, and gives the same ranking. A model reads {window} tokens at a time, {stride} of them new. Entrants that cannot be told apart share a place.</source>
        <translation>Le nombre de bits dont un modèle a besoin pour chaque octet des textes : moins il y en a, mieux c’est. La perplexité par octet est 2 à la puissance de ces bits et donne le même classement. Un modèle lit {window} tokens à la fois, dont {stride} nouveaux. Les participants que rien ne départage partagent une place.</translation>
    </message>
    <message>
        <source>{evaluators} computers that are not involved in any entry are drawn by lot to score. For each text the median score counts, so one dishonest evaluator changes nothing, and everything is in the log.</source>
        <translation>{evaluators} ordinateurs sans lien avec aucun participant sont tirés au sort pour noter. Pour chaque texte, c’est la note du milieu qui compte : un menteur parmi eux ne change rien, et tout est dans le journal.</translation>
    </message>
    <message>
        <source>What may be trained on is written at this address:</source>
        <translation>Ce sur quoi on peut entraîner est écrit à cette adresse :</translation>
    </message>
    <message>
        <source>These rules say nothing about what may be trained on.</source>
        <translation>Ces règles ne disent rien de ce sur quoi on peut entraîner.</translation>
    </message>
    <message>
        <source>A model has at most {count} parameters.</source>
        <translation>Un modèle a au plus {count} paramètres.</translation>
    </message>
    <message>
        <source>Its run may train on {count} tokens.</source>
        <translation>Son entraînement peut porter sur {count} tokens.</translation>
    </message>
    <message numerus="yes">
        <source>It has %n hour(s) from the opening of its run.</source>
        <translation>
            <numerusform>Il a %n heure à partir de l’ouverture de son entraînement.</numerusform>
            <numerusform>Il a %n heures à partir de l’ouverture de son entraînement.</numerusform>
        </translation>
    </message>
    <message>
        <source>Size, tokens and time have no limit.</source>
        <translation>Autant qu’il veut : taille, tokens et durée sont sans limite.</translation>
    </message>
    <message>
        <source>{texts} texts, {size}, were sealed before the competition was opened. Only after the deadline are {drawn} of them drawn by lot.</source>
        <translation>{texts} textes, {size}, ont été scellés avant l’ouverture de la compétition. Ce n’est qu’après la clôture que {drawn} d’entre eux sont tirés au sort.</translation>
    </message>
    <message>
        <source>One person alone holds the key to them and has to be trusted.</source>
        <translation>Une seule personne en détient la clé, et il faut lui faire confiance.</translation>
    </message>
    <message>
        <source>The key to them is shared among {custodians} custodians; {needed} have to act together to open them.</source>
        <translation>La clé en est partagée entre {custodians} dépositaires ; {needed} doivent agir ensemble pour les ouvrir.</translation>
    </message>
</context>
<context>
    <name>RunChat</name>
    <message>
        <source>Try the model</source>
        <translation>Essayer le modèle</translation>
    </message>
    <message>
        <source>Opens {address} in the browser. It is a service of the organisers: nothing that it writes is checked by the network.</source>
        <translation>Ouvre {address} dans le navigateur. C’est un service des organisateurs : le réseau ne vérifie rien de ce qu’il écrit.</translation>
    </message>
</context>
<context>
    <name>RunChoice</name>
    <message>
        <source>Rounds done</source>
        <translation>Manches terminées</translation>
    </message>
    <message>
        <source>Yours</source>
        <translation>Le vôtre</translation>
    </message>
    <message>
        <source>Ended</source>
        <translation>Terminé</translation>
    </message>
    <message>
        <source>Chosen</source>
        <translation>Choisi</translation>
    </message>
    <message>
        <source>Full</source>
        <translation>Complet</translation>
    </message>
    <message>
        <source>Round {number} of {rounds}</source>
        <translation>Manche {number} sur {rounds}</translation>
    </message>
    <message>
        <source>Round {number}</source>
        <translation>Manche {number}</translation>
    </message>
    <message numerus="yes">
        <source>%Ln volunteer(s)</source>
        <translation>
            <numerusform>%Ln volontaire</numerusform>
            <numerusform>%Ln volontaires</numerusform>
        </translation>
    </message>
    <message>
        <source>{members} of {most} volunteers</source>
        <translation>{members} volontaires sur {most}</translation>
    </message>
</context>
<context>
    <name>RunCode</name>
    <message>
        <source>This run brings its own code: {name} {version} ({hash}).</source>
        <translation>Cet entraînement apporte son propre code : {name} {version} ({hash}).</translation>
    </message>
    <message>
        <source>You allowed it.</source>
        <translation>Vous l’avez autorisé.</translation>
    </message>
    <message>
        <source>It needs your consent before it trains here.</source>
        <translation>Il lui faut votre accord avant d’entraîner ici.</translation>
    </message>
</context>
<context>
    <name>RunDetail</name>
    <message>
        <source>What joining means</source>
        <translation>Ce que cela implique</translation>
    </message>
    <message>
        <source>Join this run</source>
        <translation>Rejoindre cet entraînement</translation>
    </message>
    <message>
        <source>Stay on this run</source>
        <translation>Rester dans cet entraînement</translation>
    </message>
    <message>
        <source>What it needs</source>
        <translation>Ce qu’il faut</translation>
    </message>
    <message>
        <source>Choose for me</source>
        <translation>Choisir pour moi</translation>
    </message>
    <message>
        <source>Tequio takes an open run that fits your device, your disk and the month's traffic; of several, the one with the most places free. When it ends, the next one is chosen the same way.</source>
        <translation>Tequio prend un entraînement ouvert adapté à votre appareil, à votre disque et au trafic du mois ; s’il y en a plusieurs, celui qui a le plus de places libres. Quand il se termine, le suivant est choisi de la même façon.</translation>
    </message>
    <message>
        <source>Tequio chooses for you</source>
        <translation>Tequio choisit pour vous</translation>
    </message>
    <message>
        <source>This computer works for {run} now.</source>
        <translation>Cet ordinateur travaille en ce moment pour {run}.</translation>
    </message>
    <message>
        <source>Chosen</source>
        <translation>Choisi</translation>
    </message>
    <message>
        <source>Ended</source>
        <translation>Terminé</translation>
    </message>
    <message>
        <source>Take back my consent</source>
        <translation>Retirer mon accord</translation>
    </message>
    <message>
        <source>Allow its code…</source>
        <translation>Autoriser son code…</translation>
    </message>
    <message>
        <source>This computer is in this run.</source>
        <translation>Cet ordinateur participe à cet entraînement.</translation>
    </message>
    <message>
        <source>This run has ended. Its model and its log stay where they are.</source>
        <translation>Cet entraînement est terminé. Son modèle et son journal restent où ils sont.</translation>
    </message>
    <message>
        <source>All places are taken. If you join, you wait until one is free.</source>
        <translation>Toutes les places sont prises. Si vous le rejoignez, vous attendrez qu’une place se libère.</translation>
    </message>
    <message>
        <source>Open to everyone whose device fits.</source>
        <translation>Ouvert à tous ceux dont l’appareil convient.</translation>
    </message>
    <message>
        <source>Joining downloads {first} once. While training, it uploads about {up} and downloads about {down} per hour; less while paused.</source>
        <translation>Le rejoindre télécharge {first} une fois. Pendant l’entraînement, environ {up} montent et {down} descendent chaque heure ; moins en pause.</translation>
    </message>
    <message>
        <source>After a day it uses about {disk} on the disk, or your storage limit.</source>
        <translation>Après un jour, il occupe environ {disk} sur le disque, ou votre limite de stockage.</translation>
    </message>
    <message>
        <source>This computer would earn about {points} points a day.</source>
        <translation>Cet ordinateur gagnerait environ {points} points par jour.</translation>
    </message>
    <message>
        <source>The {left} left this month will not last for a day of lending.</source>
        <translation>Les {left} qui restent ce mois-ci ne suffisent pas pour un jour de prêt.</translation>
    </message>
    <message numerus="yes">
        <source>The {left} left this month last for about %n day(s) of lending.</source>
        <translation>
            <numerusform>Les {left} qui restent ce mois-ci suffisent pour environ %n jour de prêt.</numerusform>
            <numerusform>Les {left} qui restent ce mois-ci suffisent pour environ %n jours de prêt.</numerusform>
        </translation>
    </message>
    <message>
        <source>Something here is less than this run needs, so this computer would wait. Raise a limit, or choose a run that fits.</source>
        <translation>Quelque chose ici est inférieur à ce qu’il faut à cet entraînement : cet ordinateur attendrait. Relevez une limite, ou choisissez un entraînement adapté.</translation>
    </message>
    <message>
        <source>Your bandwidth limit is less than this run needs: some rounds may end without your work. Raise it in Settings, Network, or choose a run that fits.</source>
        <translation>Votre limite de débit est inférieure à ce qu’il faut à cet entraînement : certaines manches peuvent se terminer sans votre travail. Relevez-la dans Paramètres, Réseau, ou choisissez un entraînement adapté.</translation>
    </message>
    <message>
        <source>You chose this run. It stays chosen until you choose another.</source>
        <translation>Vous avez choisi cet entraînement. Il reste choisi jusqu’à ce que vous en choisissiez un autre.</translation>
    </message>
    <message>
        <source>Tequio chose it for you, and may choose another when this one ends.</source>
        <translation>Tequio l’a choisi pour vous, et pourra en choisir un autre quand celui-ci se terminera.</translation>
    </message>
    <message>
        <source>Joining leaves the run that you are in now; your points stay yours.</source>
        <translation>Le rejoindre fait quitter votre entraînement actuel ; vos points restent à vous.</translation>
    </message>
    <message numerus="yes">
        <source>This run needs {needed} of memory, and this computer lends {most}. One computer with %n card(s) like this one could train it: start a worker there by {command}.</source>
        <translation>
            <numerusform>Cet entraînement demande {needed} de mémoire et cet ordinateur en prête {most}. Un ordinateur avec %n carte graphique comme celle-ci pourrait l’effectuer : démarrez-y le service d’arrière-plan ({command}).</numerusform>
            <numerusform>Cet entraînement demande {needed} de mémoire et cet ordinateur en prête {most}. Un ordinateur avec %n cartes graphiques comme celle-ci pourrait l’effectuer : démarrez-y le service d’arrière-plan ({command}).</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>This run needs {needed} of memory, and this computer lends {most}. %n computer(s) like this one could train it together: open a cell with others in your network by {command}.</source>
        <translation>
            <numerusform>Cet entraînement demande {needed} de mémoire et cet ordinateur en prête {most}. %n ordinateur comme celui-ci pourrait l’effectuer : ouvrez une cellule avec d’autres personnes de votre réseau ({command}).</numerusform>
            <numerusform>Cet entraînement demande {needed} de mémoire et cet ordinateur en prête {most}. %n ordinateurs comme celui-ci pourraient l’effectuer ensemble : ouvrez une cellule avec d’autres personnes de votre réseau ({command}).</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RunFigures</name>
    <message>
        <source>Parameters</source>
        <translation>Paramètres</translation>
    </message>
    <message>
        <source>Tokens trained</source>
        <translation>Tokens entraînés</translation>
    </message>
    <message>
        <source>Round</source>
        <translation>Manche</translation>
    </message>
    <message>
        <source>Volunteers</source>
        <translation>Volontaires</translation>
    </message>
    <message>
        <source>{count} parameters</source>
        <translation>{count} paramètres</translation>
    </message>
    <message>
        <source>{count} parameters; {trained} of them are adapters, and trained</source>
        <translation>{count} paramètres ; {trained} d’entre eux sont des adaptateurs, et sont entraînés</translation>
    </message>
</context>
<context>
    <name>RunNeeds</name>
    <message>
        <source>Learns from: {source}</source>
        <translation>Apprend de : {source}</translation>
    </message>
    <message>
        <source>Licence of the model: {licence}</source>
        <translation>Licence du modèle : {licence}</translation>
    </message>
    <message>
        <source>Opened by: {keys}</source>
        <translation>Ouvert par : {keys}</translation>
    </message>
    <message>
        <source>From the organisers: {text}</source>
        <translation>De la part des organisateurs : {text}</translation>
    </message>
    <message>
        <source>Paused: {text}</source>
        <translation>En pause : {text}</translation>
    </message>
    <message>
        <source>Graphics memory</source>
        <translation>Mémoire graphique</translation>
    </message>
    <message>
        <source>No limit set</source>
        <translation>Aucune limite</translation>
    </message>
    <message>
        <source>Not known here</source>
        <translation>Inconnu ici</translation>
    </message>
    <message>
        <source>of {most} on {device}</source>
        <translation>sur {most} de {device}</translation>
    </message>
    <message>
        <source>Fits</source>
        <translation>Convient</translation>
    </message>
    <message>
        <source>Just fits</source>
        <translation>Tout juste</translation>
    </message>
    <message>
        <source>Does not fit</source>
        <translation>Ne convient pas</translation>
    </message>
    <message>
        <source>Not known yet</source>
        <translation>Pas encore connu</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Mémoire</translation>
    </message>
    <message>
        <source>of {most} free</source>
        <translation>sur {most} libres</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>Disque</translation>
    </message>
    <message>
        <source>of {most} your limits allow</source>
        <translation>sur {most} laissés par vos limites</translation>
    </message>
    <message>
        <source>First download</source>
        <translation>Premier téléchargement</translation>
    </message>
    <message>
        <source>of {most} left this month</source>
        <translation>sur {most} restants ce mois-ci</translation>
    </message>
    <message>
        <source>Upload per hour</source>
        <translation>Envoi par heure</translation>
    </message>
    <message>
        <source>of {most} your limit allows</source>
        <translation>sur {most} selon votre limite</translation>
    </message>
    <message>
        <source>Download per hour</source>
        <translation>Réception par heure</translation>
    </message>
</context>
<context>
    <name>RunNewsCard</name>
    <message>
        <source>Choose the next run</source>
        <translation>Choisir le prochain entraînement</translation>
    </message>
    <message>
        <source>Chat with the model</source>
        <translation>Discuter avec le modèle</translation>
    </message>
    <message>
        <source>See the run's page</source>
        <translation>Voir la page de l’entraînement</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>Masquer</translation>
    </message>
    <message>
        <source>No other open run fits this computer now. Tequio keeps looking.</source>
        <translation>Aucun autre entraînement ouvert ne convient à cet ordinateur pour le moment. Tequio continue de chercher.</translation>
    </message>
    <message>
        <source>Open runs that fit this computer: {names}.</source>
        <translation>Entraînements ouverts qui conviennent à cet ordinateur : {names}.</translation>
    </message>
</context>
<context>
    <name>RunNewsTexts</name>
    <message>
        <source>{run} went back to round {round}</source>
        <translation>{run} est revenu à la manche {round}</translation>
    </message>
    <message>
        <source>{run} is complete</source>
        <translation>{run} est arrivé à son terme</translation>
    </message>
    <message>
        <source>{run} has ended</source>
        <translation>{run} est terminé</translation>
    </message>
    <message>
        <source>In this network you are #{rank} of {ranked}.</source>
        <translation>Dans ce réseau, vous êtes à la place {rank} sur {ranked}.</translation>
    </message>
    <message>
        <source>Its organisers gave up the rounds after that one, and training goes on from there. Your points stay yours.</source>
        <translation>Ses organisateurs ont abandonné les manches suivantes, et l’entraînement reprend à partir de là. Vos points restent à vous.</translation>
    </message>
    <message>
        <source>It reached its last round, {round}.</source>
        <translation>Il a atteint sa dernière manche, la {round}.</translation>
    </message>
    <message>
        <source>It ended after {round} of {rounds} rounds.</source>
        <translation>Terminé après {round} manches sur {rounds}.</translation>
    </message>
    <message>
        <source>It ended after round {round}.</source>
        <translation>Terminé après la manche {round}.</translation>
    </message>
    <message>
        <source>Its model went from {first} to {last} bits per byte of unseen text, or from perplexity {before} to {after} per byte.</source>
        <translation>Son modèle est passé de {first} à {last} bits par octet sur des textes jamais vus, soit d’une perplexité de {before} à {after} par octet.</translation>
    </message>
    <message>
        <source>You earned {points} points in it.</source>
        <translation>Vous y avez gagné {points} points.</translation>
    </message>
    <message numerus="yes">
        <source>You earned {points} points in %Ln accepted round(s).</source>
        <translation>
            <numerusform>Vous avez gagné {points} points en %Ln manche acceptée.</numerusform>
            <numerusform>Vous avez gagné {points} points en %Ln manches acceptées.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RunPublished</name>
    <message>
        <source>Published heads</source>
        <translation>Modèles publiés</translation>
    </message>
</context>
<context>
    <name>RunStep</name>
    <message>
        <source>What would you like to train?</source>
        <translation>Que voulez-vous entraîner ?</translation>
    </message>
    <message>
        <source>A run is one model that many train together. You can switch at any time.</source>
        <translation>Un entraînement, c’est un modèle que beaucoup entraînent ensemble. Vous pouvez en changer à tout moment.</translation>
    </message>
    <message>
        <source>The network is not answering, so its runs cannot be listed. You can go on: Tequio keeps trying, and joins the run that fits this computer best.</source>
        <translation>Le réseau ne répond pas, ses entraînements ne peuvent donc pas être listés. Vous pouvez continuer : Tequio continue d’essayer, et rejoindra l’entraînement le mieux adapté à cet ordinateur.</translation>
    </message>
    <message>
        <source>Recommended</source>
        <translation>Recommandé</translation>
    </message>
    <message>
        <source>The open run that fits this computer and needs it most.</source>
        <translation>L’entraînement ouvert qui convient à cet ordinateur et qui en a le plus besoin.</translation>
    </message>
    <message>
        <source>Choose for me</source>
        <translation>Choisir pour moi</translation>
    </message>
    <message>
        <source>Full</source>
        <translation>Complet</translation>
    </message>
    <message numerus="yes">
        <source>%Ln volunteer(s)</source>
        <translation>
            <numerusform>%Ln volontaire</numerusform>
            <numerusform>%Ln volontaires</numerusform>
        </translation>
    </message>
    <message>
        <source>{memory} of memory</source>
        <translation>{memory} de mémoire</translation>
    </message>
    <message>
        <source>{data} to download once</source>
        <translation>{data} à télécharger une fois</translation>
    </message>
    <message>
        <source>{data} up per hour</source>
        <translation>{data} envoyés par heure</translation>
    </message>
    <message>
        <source>round {number} of {rounds}</source>
        <translation>manche {number} sur {rounds}</translation>
    </message>
</context>
<context>
    <name>RunWriting</name>
    <message>
        <source>What the model writes</source>
        <translation>Ce qu’écrit le modèle</translation>
    </message>
    <message>
        <source>Held-out text</source>
        <translation>Texte réservé</translation>
    </message>
    <message>
        <source>The model continues</source>
        <translation>Le modèle continue</translation>
    </message>
    <message>
        <source>After round {number}. Generated by the model; not anyone's opinion.</source>
        <translation>Après la manche {number}. Généré par le modèle ; ce n’est l’opinion de personne.</translation>
    </message>
    <message>
        <source>Nothing: to the model the text ends there.</source>
        <translation>Rien : pour le modèle, le texte s’arrête là.</translation>
    </message>
</context>
<context>
    <name>RunsPage</name>
    <message>
        <source>Runs</source>
        <translation>Entraînements</translation>
    </message>
    <message>
        <source>Each run trains one model, round by round.</source>
        <translation>Chaque entraînement forme un modèle, manche après manche.</translation>
    </message>
    <message>
        <source>Runs to choose from</source>
        <translation>Entraînements au choix</translation>
    </message>
    <message>
        <source>Join a network…</source>
        <translation>Rejoindre un réseau…</translation>
    </message>
    <message>
        <source>Each run trains one model, round by round. Updated {ago}.</source>
        <translation>Chaque entraînement forme un modèle, manche après manche. Liste lue {ago}.</translation>
    </message>
    <message>
        <source>The run that you chose is open, but its rules could not be read, so it is not in this list. Tequio keeps trying.</source>
        <translation>L’entraînement que vous avez choisi est ouvert, mais ses règles n’ont pas pu être lues : il n’est donc pas dans cette liste. Tequio continue d’essayer.</translation>
    </message>
    <message>
        <source>The run that you chose is no longer open, so Tequio chooses for you.</source>
        <translation>L’entraînement que vous avez choisi n’est plus ouvert, Tequio choisit donc pour vous.</translation>
    </message>
    <message>
        <source>No run is open now. Tequio keeps looking and joins when one opens: there is nothing to do.</source>
        <translation>Aucun entraînement n’est ouvert en ce moment. Tequio continue de chercher et en rejoindra un dès qu’il ouvrira : vous n’avez rien à faire.</translation>
    </message>
    <message>
        <source>No network yet</source>
        <translation>Pas encore de réseau</translation>
    </message>
    <message>
        <source>Runs belong to a network. Choose one with Join a network.</source>
        <translation>Les entraînements appartiennent à un réseau. Choisissez-en un avec « Rejoindre un réseau ».</translation>
    </message>
    <message>
        <source>The rules of the open runs could not be read. Tequio keeps trying.</source>
        <translation>Les règles des entraînements ouverts n’ont pas pu être lues. Tequio continue d’essayer.</translation>
    </message>
    <message>
        <source>Couldn't load the runs</source>
        <translation>Impossible de charger les entraînements</translation>
    </message>
    <message>
        <source>No run yet</source>
        <translation>Pas encore d’entraînement</translation>
    </message>
    <message>
        <source>{problem}. Tequio will keep trying.</source>
        <translation>{problem}. Tequio continue d’essayer.</translation>
    </message>
    <message>
        <source>Asking the network which runs there are.</source>
        <translation>On demande au réseau quels entraînements existent.</translation>
    </message>
    <message>
        <source>Looking for runs</source>
        <translation>Recherche d’entraînements</translation>
    </message>
</context>
<context>
    <name>SamplePanel</name>
    <message>
        <source>Bits per byte</source>
        <translation>Bits par octet</translation>
    </message>
    <message>
        <source>Perplexity</source>
        <translation>Perplexité</translation>
    </message>
    <message>
        <source>{name}: after round {number}</source>
        <translation>{name} : après la manche {number}</translation>
    </message>
    <message>
        <source>Nothing: to the model the text ends there.</source>
        <translation>Rien : pour le modèle, le texte s’arrête là.</translation>
    </message>
    <message>
        <source>Nobody reported what this round's model writes.</source>
        <translation>Personne n’a indiqué ce qu’écrit le modèle de cette manche.</translation>
    </message>
    <message>
        <source>{task}: {percent} of answers right ({chance} by guessing)</source>
        <translation>{task} : {percent} de bonnes réponses ({chance} au hasard)</translation>
    </message>
    <message>
        <source>Worse than after round {number}</source>
        <translation>Moins bon qu’après la manche {number}</translation>
    </message>
    <message>
        <source>Measured, not worse</source>
        <translation>Mesuré, rien à signaler</translation>
    </message>
    <message>
        <source>Too few members agree on these figures so far</source>
        <translation>Pour l’instant, trop peu de membres s’accordent sur ces chiffres</translation>
    </message>
</context>
<context>
    <name>SamplesCard</name>
    <message>
        <source>What the model writes</source>
        <translation>Ce qu’écrit le modèle</translation>
    </message>
    <message>
        <source>Earlier round</source>
        <translation>Manche antérieure</translation>
    </message>
    <message>
        <source>Beginning of a text that the model has never seen</source>
        <translation>Début d’un texte que le modèle n’a jamais vu</translation>
    </message>
    <message>
        <source>Earlier</source>
        <translation>Avant</translation>
    </message>
    <message>
        <source>Newest</source>
        <translation>Le plus récent</translation>
    </message>
    <message>
        <source>Each measure continues another text, so these two differ.</source>
        <translation>Chaque mesure continue un autre texte, c’est pourquoi ces deux-là diffèrent.</translation>
    </message>
    <message>
        <source>Bits per byte: how much of an unseen text the model cannot guess. Perplexity: roughly how many words it is choosing between. Lower is better for both. The texts are generated by the model; they are not anyone's opinion.</source>
        <translation>Bits par octet : la part d’un texte jamais vu que le modèle ne devine pas. Perplexité : entre combien de mots il hésite, pour ainsi dire. Dans les deux cas, moins il y en a, mieux c’est. Les textes sont générés par le modèle ; ce n’est l’opinion de personne.</translation>
    </message>
    <message>
        <source>The newest model, after round {number}, has not been measured yet. The chat uses it.</source>
        <translation>Le modèle le plus récent, après la manche {number}, n’a pas encore été mesuré. C’est lui que le chat utilise.</translation>
    </message>
    <message>
        <source>Round {number}</source>
        <translation>Manche {number}</translation>
    </message>
</context>
<context>
    <name>ScheduleStep</name>
    <message>
        <source>When may Tequio use this computer?</source>
        <translation>Quand Tequio peut-il utiliser cet ordinateur ?</translation>
    </message>
    <message>
        <source>Unless you change this in Settings, it stops for games, on battery and on metered networks, and aims for at most 80 °C where the device reports its temperature.</source>
        <translation>Sauf si vous changez cela dans les paramètres, il s’arrête pour les jeux, sur batterie et sur les connexions limitées, et vise au plus 80 °C si l’appareil indique sa température.</translation>
    </message>
    <message>
        <source>When to lend</source>
        <translation>Quand prêter</translation>
    </message>
    <message>
        <source>Gentle</source>
        <translation>Doux</translation>
    </message>
    <message>
        <source>After 15 minutes without input. Films pause it too.</source>
        <translation>Après 15 minutes sans activité. Les films le mettent aussi en pause.</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>Équilibré</translation>
    </message>
    <message>
        <source>After 5 minutes without input. This suits most people.</source>
        <translation>Après 5 minutes sans activité. Convient à la plupart des gens.</translation>
    </message>
    <message>
        <source>Max</source>
        <translation>Maximum</translation>
    </message>
    <message>
        <source>After 1 minute, and at 30% of the time while you use it.</source>
        <translation>Après 1 minute, et à 30 % du temps pendant que vous l’utilisez.</translation>
    </message>
    <message>
        <source>Start when I log in</source>
        <translation>Lancer à l’ouverture de ma session</translation>
    </message>
    <message>
        <source>Starts minimised to the tray. Otherwise you have to start Tequio yourself.</source>
        <translation>Démarre réduit dans la zone de notification. Sinon, vous devrez lancer Tequio vous-même.</translation>
    </message>
</context>
<context>
    <name>SettingsPage</name>
    <message>
        <source>Sections</source>
        <translation>Sections</translation>
    </message>
    <message>
        <source>Search settings</source>
        <translation>Rechercher dans les paramètres</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Rechercher</translation>
    </message>
    <message>
        <source>No results</source>
        <translation>Aucun résultat</translation>
    </message>
    <message>
        <source>No setting mentions these words.</source>
        <translation>Aucun paramètre n’a ces mots dans son titre ou sa description.</translation>
    </message>
</context>
<context>
    <name>SetupButton</name>
    <message>
        <source>Open setup</source>
        <translation>Ouvrir la configuration</translation>
    </message>
</context>
<context>
    <name>ShareDialog</name>
    <message>
        <source>Share</source>
        <translation>Partager</translation>
    </message>
    <message>
        <source>Everyone can see this page. Chats and social networks show its picture beside the link.</source>
        <translation>Tout le monde peut voir cette page. Les messageries et les réseaux sociaux affichent son image à côté du lien.</translation>
    </message>
    <message>
        <source>Save the picture…</source>
        <translation>Enregistrer l’image…</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Fermer</translation>
    </message>
    <message>
        <source>Your points</source>
        <translation>Vos points</translation>
    </message>
    <message>
        <source>Your team</source>
        <translation>Votre équipe</translation>
    </message>
    <message>
        <source>Your run</source>
        <translation>Votre entraînement</translation>
    </message>
    <message>
        <source>Page</source>
        <translation>Page</translation>
    </message>
    <message>
        <source>Link</source>
        <translation>Lien</translation>
    </message>
    <message>
        <source>Open the page</source>
        <translation>Ouvrir la page</translation>
    </message>
    <message>
        <source>Save the picture</source>
        <translation>Enregistrer l’image</translation>
    </message>
    <message>
        <source>PNG picture (*.png)</source>
        <translation>Image PNG (*.png)</translation>
    </message>
    <message>
        <source>The picture is in {file}.</source>
        <translation>L’image est dans {file}.</translation>
    </message>
</context>
<context>
    <name>SideBar</name>
    <message>
        <source>Join a network…</source>
        <translation>Rejoindre un réseau…</translation>
    </message>
</context>
<context>
    <name>SideRow</name>
    <message>
        <source>Submitted</source>
        <translation>Envoyé</translation>
    </message>
    <message>
        <source>You earned {points} points for it</source>
        <translation>Cela vous a rapporté {points} points</translation>
    </message>
    <message>
        <source>Yours</source>
        <translation>Le vôtre</translation>
    </message>
    <message>
        <source>Chosen</source>
        <translation>Choisi</translation>
    </message>
    <message>
        <source>Round {number} of {rounds}</source>
        <translation>Manche {number} sur {rounds}</translation>
    </message>
    <message numerus="yes">
        <source>%Ln volunteer(s)</source>
        <translation>
            <numerusform>%Ln volontaire</numerusform>
            <numerusform>%Ln volontaires</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SidesCard</name>
    <message>
        <source>Entrants</source>
        <translation>Participants</translation>
    </message>
    <message>
        <source>training loss by round</source>
        <translation>perte par manche</translation>
    </message>
    <message>
        <source>Training loss of each entrant by round</source>
        <translation>Perte à l’entraînement de chaque participant, par manche</translation>
    </message>
    <message>
        <source>As the trainers report it. The winner is decided on texts that nobody has seen.</source>
        <translation>Telle que les entraîneurs la déclarent. Le gagnant est désigné sur des textes que personne n’a vus.</translation>
    </message>
    <message>
        <source>Entrants to choose from</source>
        <translation>Participants au choix</translation>
    </message>
    <message>
        <source>Nobody has entered yet.</source>
        <translation>Aucun participant n’est encore inscrit.</translation>
    </message>
    <message>
        <source>Models that were trained elsewhere: {names}</source>
        <translation>Modèles entraînés ailleurs : {names}</translation>
    </message>
    <message>
        <source>{name}: {loss} in round {number}</source>
        <translation>{name} : {loss} à la manche {number}</translation>
    </message>
    <message>
        <source>No round has been closed yet. The curves begin with the first.</source>
        <translation>Aucune manche n’est encore close. Les courbes commencent avec la première.</translation>
    </message>
    <message>
        <source>Couldn't load the curves: {problem}.</source>
        <translation>Impossible de charger les courbes : {problem}.</translation>
    </message>
    <message>
        <source>Asking the network how the entrants are doing.</source>
        <translation>On demande au registre où en sont les participants.</translation>
    </message>
</context>
<context>
    <name>SnoozeMenu</name>
    <message>
        <source>Snooze</source>
        <translation>Pause temporaire</translation>
    </message>
    <message>
        <source>15 minutes</source>
        <translation>15 minutes</translation>
    </message>
    <message>
        <source>1 hour</source>
        <translation>1 heure</translation>
    </message>
    <message>
        <source>Until tomorrow</source>
        <translation>Jusqu’à demain</translation>
    </message>
    <message>
        <source>Until I close {game}</source>
        <translation>Jusqu’à ce que je ferme {game}</translation>
    </message>
    <message>
        <source>Until I close this game</source>
        <translation>Jusqu’à ce que je ferme ce jeu</translation>
    </message>
</context>
<context>
    <name>StandingChip</name>
    <message>
        <source>Not known yet</source>
        <translation>Pas encore connu</translation>
    </message>
    <message>
        <source>Shown once this computer has joined the network.</source>
        <translation>Affiché dès que cet ordinateur aura rejoint le réseau.</translation>
    </message>
    <message>
        <source>Ended</source>
        <translation>Terminée</translation>
    </message>
    <message>
        <source>Log entry {entry} ended this key: it can do nothing more.</source>
        <translation>L’entrée {entry} du journal a mis fin à cette clé : elle ne peut plus rien faire.</translation>
    </message>
    <message>
        <source>Excluded</source>
        <translation>Exclue</translation>
    </message>
    <message>
        <source>No round accepts your key now ({why}). Activity explains what you can do.</source>
        <translation>Aucune manche n’accepte votre clé en ce moment ({why}). Activité explique ce que vous pouvez faire.</translation>
    </message>
    <message>
        <source>New</source>
        <translation>Nouvelle</translation>
    </message>
    <message>
        <source>Ten accepted contributions make your key a full member.</source>
        <translation>Dix contributions acceptées font de votre clé un membre à part entière.</translation>
    </message>
    <message>
        <source>Good</source>
        <translation>Bon</translation>
    </message>
    <message>
        <source>Changed</source>
        <translation>Modifié</translation>
    </message>
    <message>
        <source>Activity explains what has happened.</source>
        <translation>Activité explique ce qui s’est passé.</translation>
    </message>
</context>
<context>
    <name>StatCard</name>
    <message>
        <source>{points} points</source>
        <translation>{points} points</translation>
    </message>
</context>
<context>
    <name>Stats</name>
    <message>
        <source>Points today</source>
        <translation>Points aujourd’hui</translation>
    </message>
    <message>
        <source>Total points</source>
        <translation>Total des points</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>Rang</translation>
    </message>
    <message>
        <source>Energy today</source>
        <translation>Énergie du jour</translation>
    </message>
    <message numerus="yes">
        <source>%n round(s) pending</source>
        <translation>
            <numerusform>%n manche en attente</numerusform>
            <numerusform>%n manches en attente</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing pending</source>
        <translation>Rien en attente</translation>
    </message>
    <message>
        <source>About {points} a day</source>
        <translation>Environ {points} par jour</translation>
    </message>
    <message>
        <source>{points} still to be checked</source>
        <translation>{points} encore à vérifier</translation>
    </message>
    <message>
        <source>Every proof checked here</source>
        <translation>Toutes preuves vérifiées</translation>
    </message>
    <message>
        <source>None yet</source>
        <translation>Pas encore</translation>
    </message>
    <message numerus="yes">
        <source>of %Ln volunteer(s)</source>
        <translation>
            <numerusform>sur %Ln volontaire</numerusform>
            <numerusform>sur %Ln volontaires</numerusform>
        </translation>
    </message>
    <message>
        <source>After your first verified round</source>
        <translation>Après une manche vérifiée</translation>
    </message>
    <message>
        <source>Not measured here</source>
        <translation>Non mesurée ici</translation>
    </message>
    <message>
        <source>{energy} in total</source>
        <translation>{energy} au total</translation>
    </message>
    <message>
        <source>Estimated, {total}</source>
        <translation>Estimée, {total}</translation>
    </message>
</context>
<context>
    <name>TeamControl</name>
    <message>
        <source>Join or found…</source>
        <translation>Rejoindre ou créer…</translation>
    </message>
    <message>
        <source>Team {number}</source>
        <translation>Équipe {number}</translation>
    </message>
    <message>
        <source>Open…</source>
        <translation>Ouvrir…</translation>
    </message>
</context>
<context>
    <name>TeamDialog</name>
    <message>
        <source>Look at the team</source>
        <translation>Voir l’équipe</translation>
    </message>
    <message>
        <source>Found the team</source>
        <translation>Créer l’équipe</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Fermer</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Annuler</translation>
    </message>
    <message>
        <source>Team</source>
        <translation>Équipe</translation>
    </message>
    <message>
        <source>What you earn in a team also counts for the team. What you earned for it stays with it when you leave.</source>
        <translation>Ce que vous gagnez dans une équipe compte aussi pour l’équipe. Ce que vous avez gagné pour elle lui reste quand vous la quittez.</translation>
    </message>
    <message>
        <source>Join the team “{team}”?</source>
        <translation>Rejoindre l’équipe « {team} » ?</translation>
    </message>
    <message>
        <source>Its owner, {owner}, invites everyone who has this link.</source>
        <translation>La personne responsable, {owner}, invite tous ceux qui ont ce lien.</translation>
    </message>
    <message>
        <source>Join the team</source>
        <translation>Rejoindre l’équipe</translation>
    </message>
    <message numerus="yes">
        <source>%n member(s)</source>
        <translation>
            <numerusform>%n membre</numerusform>
            <numerusform>%n membres</numerusform>
        </translation>
    </message>
    <message>
        <source>{points} points so far</source>
        <translation>{points} points jusqu’ici</translation>
    </message>
    <message>
        <source>Everyone can see that you are in the team, and what you earn for it.</source>
        <translation>Tout le monde peut voir que vous êtes dans l’équipe, et ce que vous gagnez pour elle.</translation>
    </message>
    <message>
        <source>Your points stay yours. They also count for the team, from now on.</source>
        <translation>Vos points restent à vous. Désormais, ils comptent aussi pour l’équipe.</translation>
    </message>
    <message>
        <source>The owner can remove you; you can leave at any time.</source>
        <translation>La personne responsable peut vous retirer ; vous pouvez partir à tout moment.</translation>
    </message>
    <message>
        <source>You are in another team. Leave it before you join this one.</source>
        <translation>Vous êtes dans une autre équipe. Quittez-la avant de rejoindre celle-ci.</translation>
    </message>
    <message>
        <source>You own this team.</source>
        <translation>Vous êtes responsable de cette équipe.</translation>
    </message>
    <message>
        <source>Its owner is {owner}.</source>
        <translation>La personne responsable est {owner}.</translation>
    </message>
    <message>
        <source>{points} points</source>
        <translation>{points} points</translation>
    </message>
    <message>
        <source>What you earned for the team stays with it.</source>
        <translation>Ce que vous avez gagné pour l’équipe lui reste.</translation>
    </message>
    <message>
        <source>The member that joined first becomes its owner.</source>
        <translation>Le membre le plus ancien en devient responsable.</translation>
    </message>
    <message>
        <source>You are its last member: the team ends for good.</source>
        <translation>Vous êtes son dernier membre : l’équipe prend fin définitivement.</translation>
    </message>
    <message>
        <source>Leave the team?</source>
        <translation>Quitter l’équipe ?</translation>
    </message>
    <message>
        <source>Leave the team</source>
        <translation>Quitter l’équipe</translation>
    </message>
    <message>
        <source>Hand the team over to {name}?</source>
        <translation>Transmettre l’équipe à {name} ?</translation>
    </message>
    <message>
        <source>You stay a member, and cannot take the team back.</source>
        <translation>Vous restez membre, et ne pouvez pas reprendre l’équipe.</translation>
    </message>
    <message>
        <source>Hand over</source>
        <translation>Transmettre</translation>
    </message>
    <message>
        <source>Remove {name} from the team?</source>
        <translation>Retirer {name} de l’équipe ?</translation>
    </message>
    <message>
        <source>The join link stops working, as {name} has it. Points stay.</source>
        <translation>Le lien pour rejoindre ne fonctionne plus, car {name} l’a. Les points restent.</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Retirer</translation>
    </message>
    <message>
        <source>Team {number}</source>
        <translation>Équipe {number}</translation>
    </message>
</context>
<context>
    <name>TimelineCard</name>
    <message>
        <source>Events to show</source>
        <translation>Événements à afficher</translation>
    </message>
    <message>
        <source>All</source>
        <translation>Tout</translation>
    </message>
    <message>
        <source>Rounds</source>
        <translation>Manches</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>Attention</translation>
    </message>
    <message>
        <source>Search in events</source>
        <translation>Rechercher dans les événements</translation>
    </message>
    <message>
        <source>Events</source>
        <translation>Événements</translation>
    </message>
    <message>
        <source>Looking</source>
        <translation>Chargement</translation>
    </message>
    <message>
        <source>Reading recent events.</source>
        <translation>Lecture des derniers événements.</translation>
    </message>
    <message>
        <source>Couldn't load the events</source>
        <translation>Impossible de charger les événements</translation>
    </message>
    <message>
        <source>Older events are being read.</source>
        <translation>Lecture des événements plus anciens.</translation>
    </message>
    <message>
        <source>No matches</source>
        <translation>Aucun</translation>
    </message>
    <message>
        <source>No event fits the filter and the search.</source>
        <translation>Aucun événement ne correspond au filtre et à la recherche.</translation>
    </message>
    <message>
        <source>Nothing happened yet</source>
        <translation>Rien pour l’instant</translation>
    </message>
    <message>
        <source>What this computer does for the swarm will be listed here.</source>
        <translation>Ce que cet ordinateur fait pour l’essaim sera raconté ici, en phrases.</translation>
    </message>
</context>
<context>
    <name>Tray</name>
    <message>
        <source>Join a network…</source>
        <translation>Rejoindre un réseau…</translation>
    </message>
    <message>
        <source>Open Tequio</source>
        <translation>Ouvrir Tequio</translation>
    </message>
    <message>
        <source>Quit – stops lending</source>
        <translation>Quitter – arrête le prêt</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>Quitter</translation>
    </message>
    <message>
        <source>Contribute</source>
        <translation>Contribuer</translation>
    </message>
    <message>
        <source>Set up …</source>
        <translation>Configurer…</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pause</translation>
    </message>
    <message>
        <source>Resume now</source>
        <translation>Reprendre maintenant</translation>
    </message>
    <message>
        <source>Go on after this round</source>
        <translation>Continuer après cette manche</translation>
    </message>
    <message>
        <source>Finish round, then stop</source>
        <translation>Finir la manche, puis arrêter</translation>
    </message>
</context>
<context>
    <name>UndoToast</name>
    <message>
        <source>Undo</source>
        <translation>Annuler</translation>
    </message>
</context>
<context>
    <name>UnlockDialog</name>
    <message>
        <source>Your key is sealed</source>
        <translation>Votre clé est protégée</translation>
    </message>
    <message>
        <source>Nothing is lent before you give its passphrase. It is kept until you quit.</source>
        <translation>Rien n’est prêté tant que vous n’avez pas saisi sa phrase secrète. Elle est retenue jusqu’à ce que vous quittiez.</translation>
    </message>
    <message>
        <source>Unlock</source>
        <translation>Déverrouiller</translation>
    </message>
    <message>
        <source>Passphrase</source>
        <translation>Phrase secrète</translation>
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
        <translation>Envoi</translation>
    </message>
    <message>
        <source>Traffic</source>
        <translation>Trafic</translation>
    </message>
    <message>
        <source>Downloaded and uploaded this month, of your monthly limit</source>
        <translation>Téléchargé et envoyé ce mois-ci, sur votre limite mensuelle</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>Disque</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Mémoire</translation>
    </message>
    <message>
        <source>{used} of {most}</source>
        <translation>{used} sur {most}</translation>
    </message>
</context>
<context>
    <name>UsedQuestion</name>
    <message>
        <source>While you use the computer, the device will be busy for {share} of the time. It gets louder and uses more power, and videos or scrolling may stutter. The rules for games and films still apply.</source>
        <translation>Pendant que vous utilisez l’ordinateur, l’appareil sera occupé {share} du temps. Il devient plus bruyant et consomme plus, et les vidéos ou le défilement peuvent saccader. Les règles pour les jeux et les films s’appliquent toujours.</translation>
    </message>
</context>
<context>
    <name>UsedSwitch</name>
    <message>
        <source>Lend while I use the computer</source>
        <translation>Prêter pendant que j’utilise l’ordinateur</translation>
    </message>
</context>
<context>
    <name>WeekEditor</name>
    <message>
        <source>Hours in which to lend</source>
        <translation>Heures de prêt</translation>
    </message>
    <message>
        <source>Hours</source>
        <translation>Heures</translation>
    </message>
    <message>
        <source>Always</source>
        <translation>Toujours</translation>
    </message>
    <message>
        <source>Nights</source>
        <translation>La nuit</translation>
    </message>
    <message>
        <source>Outside office hours</source>
        <translation>Hors heures de bureau</translation>
    </message>
    <message>
        <source>Custom</source>
        <translation>Personnalisé</translation>
    </message>
    <message>
        <source>No hour is selected, so nothing is ever lent.</source>
        <translation>Aucune heure n’est sélectionnée : rien n’est jamais prêté.</translation>
    </message>
    <message>
        <source>Hours changed.</source>
        <translation>Heures modifiées.</translation>
    </message>
</context>
<context>
    <name>WeekGrid</name>
    <message>
        <source>may lend</source>
        <translation>peut prêter</translation>
    </message>
    <message>
        <source>does not lend</source>
        <translation>ne prête pas</translation>
    </message>
</context>
<context>
    <name>WelcomeStep</name>
    <message>
        <source>Lend your idle computer to open models</source>
        <translation>Prêtez votre ordinateur inutilisé à des modèles ouverts</translation>
    </message>
    <message>
        <source>Tequio trains open language models on the computers of volunteers, while nobody needs them. Nothing is lent before you agree to it at the end.</source>
        <translation>Tequio entraîne des modèles de langage ouverts sur les ordinateurs de volontaires, quand personne n’en a besoin. Rien n’est prêté avant votre accord, à la fin.</translation>
    </message>
    <message>
        <source>Stops when you play</source>
        <translation>S’arrête quand vous jouez</translation>
    </message>
    <message>
        <source>Starting a game or going full screen stops it within seconds and frees all GPU memory.</source>
        <translation>Lancer un jeu ou passer en plein écran l’arrête en quelques secondes et libère toute la mémoire du GPU.</translation>
    </message>
    <message>
        <source>Points you can check</source>
        <translation>Des points vérifiables</translation>
    </message>
    <message>
        <source>Each round gives compute points. Your computer checks every proof.</source>
        <translation>Chaque manche donne des points de calcul. Votre ordinateur vérifie chaque preuve.</translation>
    </message>
    <message>
        <source>Keeps to itself</source>
        <translation>Discret</translation>
    </message>
    <message>
        <source>It reads none of your files. Settings lists all that it sends.</source>
        <translation>Il ne lit aucun de vos fichiers. Les paramètres indiquent tout ce qu’il envoie.</translation>
    </message>
</context>
<context>
    <name>WordsGrid</name>
    <message>
        <source>The 24 words</source>
        <translation>Les 24 mots</translation>
    </message>
    <message>
        <source>24 words, hidden</source>
        <translation>24 mots, masqués</translation>
    </message>
</context>
<context>
    <name>WorkerLogCard</name>
    <message>
        <source>Log of the worker</source>
        <translation>Journal du service d’arrière-plan</translation>
    </message>
    <message>
        <source>For troubleshooting. Copying adds what the app sees, but no key and no password.</source>
        <translation>Pour trouver des erreurs. La copie ajoute ce que voit l’application ; ni clé, ni mot de passe.</translation>
    </message>
    <message>
        <source>Last lines of the log</source>
        <translation>Dernières lignes du journal</translation>
    </message>
    <message>
        <source>The worker has not logged anything yet.</source>
        <translation>Le service d’arrière-plan n’a encore rien indiqué.</translation>
    </message>
    <message>
        <source>Copy diagnostics</source>
        <translation>Copier le diagnostic</translation>
    </message>
    <message>
        <source>Diagnostics copied: paste them into your report</source>
        <translation>Diagnostic copié : collez-le dans votre rapport</translation>
    </message>
</context>
<context>
    <name>WorkerProcess</name>
    <message>
        <source>The worker is not running.</source>
        <translation>Le service d’arrière-plan n’est pas lancé.</translation>
    </message>
    <message>
        <source>The worker has ended.</source>
        <translation>Le service d’arrière-plan s’est arrêté.</translation>
    </message>
    <message>
        <source>The worker failed {tries} times in a row, the last time so: {why}</source>
        <translation>Le service d’arrière-plan a échoué {tries} fois de suite, la dernière fois ainsi : {why}</translation>
    </message>
    <message>
        <source>{why} It is started again.</source>
        <translation>{why} Il est relancé.</translation>
    </message>
</context>
<context>
    <name>checks</name>
    <message>
        <source>Graphics card</source>
        <translation>Carte graphique</translation>
    </message>
    <message>
        <source>Driver</source>
        <translation>Pilote</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>Disque</translation>
    </message>
    <message>
        <source>Network</source>
        <translation>Réseau</translation>
    </message>
    <message>
        <source>Looking…</source>
        <translation>Vérification…</translation>
    </message>
    <message>
        <source>Its probe has not answered. Tequio keeps asking; you can go on.</source>
        <translation>La sonde n’a pas répondu. Tequio continue de demander ; vous pouvez poursuivre.</translation>
    </message>
    <message>
        <source>None that can train was found. {processor} with {cores} cores can help too.</source>
        <translation>Aucune carte capable d’entraîner n’a été trouvée. {processor} et ses {cores} cœurs peuvent aussi aider.</translation>
    </message>
    <message>
        <source>{card} does not say how much memory it has.</source>
        <translation>{card} n’indique pas sa quantité de mémoire.</translation>
    </message>
    <message>
        <source>{card} has {memory}: too little to train most models.</source>
        <translation>{card} a {memory} : trop peu pour entraîner la plupart des modèles.</translation>
    </message>
    <message>
        <source>{card} with {memory}, of which at most {usable} are used.</source>
        <translation>{card} avec {memory}, dont au plus {usable} sont utilisés.</translation>
    </message>
    <message>
        <source>Its probe has not answered yet.</source>
        <translation>La sonde n’a pas encore répondu.</translation>
    </message>
    <message>
        <source>None is needed for the processor.</source>
        <translation>Le processeur n’en a pas besoin.</translation>
    </message>
    <message>
        <source>It does not say its version. The first start will show it.</source>
        <translation>Il n’indique pas sa version. Le premier démarrage le dira.</translation>
    </message>
    <message>
        <source>Version {driver} is too old to train: install {oldest} or newer, then restart.</source>
        <translation>La version {driver} est trop ancienne pour entraîner : installez {oldest} ou plus récente, puis redémarrez.</translation>
    </message>
    <message>
        <source>Version {driver} can train.</source>
        <translation>La version {driver} peut entraîner.</translation>
    </message>
    <message>
        <source>It is not known how much is free.</source>
        <translation>Impossible de savoir combien est libre.</translation>
    </message>
    <message>
        <source>{free} GB are free. Tequio takes {store} GB at most, and {stays} stay free.</source>
        <translation>{free} Go sont libres. Tequio prend au plus {store} Go, et {stays} restent libres.</translation>
    </message>
    <message>
        <source>{free} GB are free. {stays} stay free, so Tequio has {store} GB: some runs fit.</source>
        <translation>{free} Go sont libres. {stays} restent libres, Tequio a donc {store} Go : certains entraînements y tiennent.</translation>
    </message>
    <message>
        <source>Only {free} GB are free and {wanted} are needed, of which {stays} stay free: make room before lending.</source>
        <translation>Seulement {free} Go sont libres et il en faut {wanted}, dont {stays} restent libres : faites de la place avant de prêter.</translation>
    </message>
    <message>
        <source>You choose the network in step 5.</source>
        <translation>Vous choisirez le réseau à l’étape 5.</translation>
    </message>
    <message>
        <source>You join “{network}” by your invitation.</source>
        <translation>Vous rejoindrez « {network} » grâce à votre invitation.</translation>
    </message>
    <message>
        <source>The network does not answer now. You can go on: Tequio keeps trying.</source>
        <translation>Le réseau ne répond pas en ce moment. Vous pouvez poursuivre : Tequio continue d’essayer.</translation>
    </message>
    <message>
        <source>The network answers. No run is open now; one will be joined.</source>
        <translation>Le réseau répond. Aucun entraînement n’est ouvert ; le prochain sera rejoint.</translation>
    </message>
    <message numerus="yes">
        <source>The network answers, and %n run(s) are open.</source>
        <translation>
            <numerusform>Le réseau répond, et %n entraînement est ouvert.</numerusform>
            <numerusform>Le réseau répond, et %n entraînements sont ouverts.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>competitions</name>
    <message>
        <source>Announced</source>
        <translation>Annoncée</translation>
    </message>
    <message>
        <source>Under way</source>
        <translation>En cours</translation>
    </message>
    <message>
        <source>Deadline over</source>
        <translation>Délai écoulé</translation>
    </message>
    <message>
        <source>Closed</source>
        <translation>Close</translation>
    </message>
    <message>
        <source>Being opened</source>
        <translation>Ouverture</translation>
    </message>
    <message>
        <source>Being scored</source>
        <translation>Notation</translation>
    </message>
    <message>
        <source>Being checked</source>
        <translation>Vérification</translation>
    </message>
    <message>
        <source>Decided</source>
        <translation>Décidée</translation>
    </message>
    <message>
        <source>No ranking</source>
        <translation>Sans classement</translation>
    </message>
    <message>
        <source>It has not begun yet. Join an entrant's run now to train from the start.</source>
        <translation>Elle n’a pas encore commencé. Rejoignez maintenant l’entraînement d’un participant pour entraîner dès le début.</translation>
    </message>
    <message>
        <source>The entrants are training. The last submission of each before the deadline counts.</source>
        <translation>Les participants entraînent. Ce qui compte, c’est le dernier envoi de chacun avant la clôture.</translation>
    </message>
    <message>
        <source>The deadline is over. The ledger closes the competition any moment.</source>
        <translation>Le délai est écoulé. Le registre clôt la compétition d’un instant à l’autre.</translation>
    </message>
    <message>
        <source>Nothing can be submitted any more. Every volunteer evaluator draws a lot, which nobody can choose. The lots decide who scores, and on which texts.</source>
        <translation>Plus rien ne peut être envoyé. Chaque évaluateur volontaire tire un numéro que personne ne peut choisir. Les numéros décident qui note, et sur quels textes.</translation>
    </message>
    <message>
        <source>The custodians reveal their parts of the key. Any {needed} of the {custodians} parts open the texts.</source>
        <translation>Les dépositaires présentent leurs parts de la clé : {needed} sur {custodians} ouvrent les textes.</translation>
    </message>
    <message>
        <source>The texts are open. Evaluators, drawn by lot, score each entrant on them, and commit to their scores before anyone reveals any.</source>
        <translation>Les textes sont ouverts. Des évaluateurs tirés au sort notent chaque participant dessus, et s’engagent sur leurs notes avant que quiconque ne les montre.</translation>
    </message>
    <message>
        <source>Evaluators reveal the scores that they committed to. Until the result, anyone may score a model again and challenge a score.</source>
        <translation>Les évaluateurs montrent les notes sur lesquelles ils se sont engagés. Jusqu’au résultat, chacun peut refaire une note et la contester.</translation>
    </message>
    <message>
        <source>The result stands, and anyone can check it from the log alone.</source>
        <translation>Le résultat est acquis, et tout le monde peut le vérifier à partir du seul journal.</translation>
    </message>
    <message>
        <source>It ended without a ranking: too few custodians revealed their parts of the key in time, or there was nobody to score.</source>
        <translation>Terminée sans classement : trop peu de dépositaires ont présenté leur part de la clé à temps, ou personne ne pouvait noter.</translation>
    </message>
    <message>
        <source>It ended without a ranking: too few of those who were drawn scored the entrants in time.</source>
        <translation>Terminée sans classement : trop peu des évaluateurs tirés au sort ont noté les participants à temps.</translation>
    </message>
    <message>
        <source>until it begins</source>
        <translation>avant le début</translation>
    </message>
    <message>
        <source>until the deadline</source>
        <translation>avant la clôture</translation>
    </message>
    <message>
        <source>until the draw</source>
        <translation>avant le tirage</translation>
    </message>
    <message>
        <source>until all must be scored</source>
        <translation>avant la fin des notes</translation>
    </message>
    <message>
        <source>until the result</source>
        <translation>avant le résultat</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>Début</translation>
    </message>
    <message>
        <source>Deadline</source>
        <translation>Clôture</translation>
    </message>
    <message>
        <source>Draw</source>
        <translation>Tirage</translation>
    </message>
    <message>
        <source>Scores</source>
        <translation>Notes</translation>
    </message>
    <message>
        <source>Result</source>
        <translation>Résultat</translation>
    </message>
</context>
<context>
    <name>figures</name>
    <message>
        <source>{used} of {most}</source>
        <translation>{used} sur {most}</translation>
    </message>
    <message>
        <source>about what an {card} does in {time}</source>
        <translation>autant qu’une {card} en {time}</translation>
    </message>
    <message>
        <source>about {time} on an {card}</source>
        <translation>environ {time} d’une {card}</translation>
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
        <translation>{n} jours</translation>
    </message>
    <message>
        <source>{number}%</source>
        <translation>{number} %</translation>
    </message>
    <message numerus="yes">
        <source>%n byte(s)</source>
        <translation>
            <numerusform>%n octet</numerusform>
            <numerusform>%n octets</numerusform>
        </translation>
    </message>
    <message>
        <source>{rate} Mbit/s</source>
        <translation>{rate} Mbit/s</translation>
    </message>
    <message>
        <source>{days} d {hours} h</source>
        <translation>{days} j {hours} h</translation>
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
        <translation>{day} {month}</translation>
    </message>
    <message>
        <source>tomorrow {time}</source>
        <translation>demain {time}</translation>
    </message>
    <message>
        <source>{weekday} {day} {month} {year}, {time}</source>
        <translation>{weekday} {day} {month} {year}, {time}</translation>
    </message>
    <message>
        <source>just now</source>
        <translation>à l’instant</translation>
    </message>
    <message>
        <source>{time} ago</source>
        <translation>il y a {time}</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>Aujourd’hui</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>Hier</translation>
    </message>
    <message>
        <source>{weekday} {day} {month}</source>
        <translation>{weekday} {day} {month}</translation>
    </message>
    <message>
        <source>{weekday} {day} {month} {year}</source>
        <translation>{weekday} {day} {month} {year}</translation>
    </message>
    <message>
        <source>{number}T</source>
        <translation>{number} Bn</translation>
    </message>
    <message>
        <source>{number}B</source>
        <translation>{number} Md</translation>
    </message>
    <message>
        <source>{number}M</source>
        <translation>{number} M</translation>
    </message>
    <message>
        <source>{number}k</source>
        <translation>{number} k</translation>
    </message>
</context>
<context>
    <name>headline</name>
    <message>
        <source>Starting</source>
        <translation>Démarrage</translation>
    </message>
    <message>
        <source>The worker is being started.</source>
        <translation>Le service d’arrière-plan démarre.</translation>
    </message>
    <message>
        <source>Pausing…</source>
        <translation>Mise en pause…</translation>
    </message>
    <message>
        <source>The device is given back at once.</source>
        <translation>L’appareil est rendu immédiatement.</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>Démarrage…</translation>
    </message>
    <message>
        <source>Checking whether it's OK to start…</source>
        <translation>Vérification que tout permet de démarrer…</translation>
    </message>
    <message>
        <source>No connection</source>
        <translation>Pas de connexion</translation>
    </message>
    <message>
        <source>Neither the network's ledger nor another computer answers. Tequio keeps trying; work that has begun goes on.</source>
        <translation>Ni le registre du réseau ni aucun autre ordinateur ne répond. Tequio continue d’essayer ; le travail commencé se poursuit.</translation>
    </message>
</context>
<context>
    <name>health</name>
    <message>
        <source>Time without input</source>
        <translation>Temps sans activité</translation>
    </message>
    <message>
        <source>Screen lock</source>
        <translation>Verrouillage de l’écran</translation>
    </message>
    <message>
        <source>Other users</source>
        <translation>Autres utilisateurs</translation>
    </message>
    <message>
        <source>Fullscreen programs</source>
        <translation>Programmes en plein écran</translation>
    </message>
    <message>
        <source>Game mode</source>
        <translation>Mode jeu</translation>
    </message>
    <message>
        <source>Programs that run</source>
        <translation>Programmes en cours</translation>
    </message>
    <message>
        <source>Metered network</source>
        <translation>Connexion limitée</translation>
    </message>
    <message>
        <source>Graphics cards</source>
        <translation>Cartes graphiques</translation>
    </message>
    <message>
        <source>Processor load</source>
        <translation>Charge du processeur</translation>
    </message>
    <message>
        <source>Processor temperature</source>
        <translation>Température du processeur</translation>
    </message>
    <message>
        <source>Main memory</source>
        <translation>Mémoire vive</translation>
    </message>
    <message>
        <source>Battery</source>
        <translation>Batterie</translation>
    </message>
    <message>
        <source>Power saving</source>
        <translation>Économie d’énergie</translation>
    </message>
    <message>
        <source>Without it, lending waits until the computer is locked. Lock it when you leave, or allow lending while you use it in Settings, When to lend.</source>
        <translation>Sans cela, le prêt attend que l’ordinateur soit verrouillé. Verrouillez-le en partant, ou autorisez le prêt pendant que vous l’utilisez dans Paramètres, Quand prêter.</translation>
    </message>
    <message>
        <source>Without it, only the time without input tells that you are away.</source>
        <translation>Sans cela, seul le temps sans activité indique que vous êtes absent.</translation>
    </message>
    <message>
        <source>Without it, lending waits, since another user may be at the computer. Start Tequio again.</source>
        <translation>Sans cela, le prêt attend, car un autre utilisateur est peut-être devant l’ordinateur. Relancez Tequio.</translation>
    </message>
    <message>
        <source>Without it, lending waits until the computer is locked, unless you switch off pausing for games in Settings, When to lend.</source>
        <translation>Sans cela, le prêt attend que l’ordinateur soit verrouillé, sauf si vous désactivez la pause pour les jeux dans Paramètres, Quand prêter.</translation>
    </message>
    <message>
        <source>Games are still known by their launchers and by filling the screen. To have it, install GameMode.</source>
        <translation>Les jeux restent reconnus par leurs lanceurs et par le plein écran. Pour l’avoir, installez GameMode.</translation>
    </message>
    <message>
        <source>Without it, your exclusive programs and games cannot be seen. Empty that list and switch off pausing for games in Settings, When to lend, or start Tequio again.</source>
        <translation>Sans cela, vos programmes exclusifs et vos jeux ne peuvent pas être détectés. Videz cette liste et désactivez la pause pour les jeux dans Paramètres, Quand prêter, ou relancez Tequio.</translation>
    </message>
    <message>
        <source>Without it, large transfers wait. Allow metered networks in Settings, Network, if yours costs nothing.</source>
        <translation>Sans cela, les gros transferts attendent. Autorisez les connexions limitées dans Paramètres, Réseau, si la vôtre ne coûte rien.</translation>
    </message>
    <message>
        <source>If such a card is in this computer, install or update its driver, then start the computer again.</source>
        <translation>Si une telle carte est dans cet ordinateur, installez ou mettez à jour son pilote, puis redémarrez l’ordinateur.</translation>
    </message>
    <message>
        <source>Lending goes on; only the processor's temperature goal cannot be kept.</source>
        <translation>Le prêt continue ; seule la température visée du processeur ne peut pas être respectée.</translation>
    </message>
    <message>
        <source>If this computer has no battery, allow it in Settings, When to lend.</source>
        <translation>Si cet ordinateur n’a pas de batterie, autorisez-le dans Paramètres, Quand prêter.</translation>
    </message>
    <message>
        <source>If you never save power, allow lending while power is saved in Settings, When to lend.</source>
        <translation>Si vous n’économisez jamais l’énergie, autorisez le prêt en économie d’énergie dans Paramètres, Quand prêter.</translation>
    </message>
    <message>
        <source>Start Tequio again. If that does not help, copy the diagnostics and report it.</source>
        <translation>Relancez Tequio. Si cela n’aide pas, copiez le diagnostic et signalez l’erreur.</translation>
    </message>
</context>
<context>
    <name>judging</name>
    <message>
        <source>It takes {memory} of memory</source>
        <translation>Cela demande {memory} de mémoire</translation>
    </message>
    <message>
        <source>It takes memory, about five bytes for each parameter of a model</source>
        <translation>Cela demande de la mémoire, environ cinq octets par paramètre d’un modèle</translation>
    </message>
    <message>
        <source>{takes}, and some minutes of computing for each model when the texts are open, by the same rules as training. Evaluators cannot win with an entry of their own, nor judge a run that they trained in.</source>
        <translation>{takes}, et quelques minutes de calcul par modèle quand les textes sont ouverts, selon les mêmes règles que l’entraînement. Les évaluateurs ne peuvent ni gagner avec leur propre modèle, ni évaluer un entraînement auquel ils ont participé.</translation>
    </message>
    <message>
        <source>You help to judge: this computer makes its offer within a minute or two.</source>
        <translation>Vous aidez à évaluer : cet ordinateur se propose dans une ou deux minutes.</translation>
    </message>
    <message>
        <source>Volunteers, drawn by lot, decide the winner: their computers score every model on the sealed texts. Yours can be one of them.</source>
        <translation>Des volontaires tirés au sort désignent le gagnant : leurs ordinateurs notent chaque modèle sur les textes scellés. Le vôtre peut en être.</translation>
    </message>
    <message>
        <source>You were drawn, but judging is switched off: {done} of {models} models are scored. Switch it on, or the scores of this computer will be missing.</source>
        <translation>Vous avez été tiré au sort, mais l’évaluation est désactivée : {done} modèles sur {models} sont notés. Activez-la, ou les autres devront se passer de vous.</translation>
    </message>
    <message>
        <source>You were drawn: {done} of {models} models are scored. It goes on when this computer may lend and the round under way is over.</source>
        <translation>Vous avez été tiré au sort : {done} modèles sur {models} sont notés. La suite viendra quand cet ordinateur pourra être prêté et que la manche en cours sera finie.</translation>
    </message>
    <message>
        <source>Scoring: {done} of {models} models are done. The next one is made ready.</source>
        <translation>Notation : {done} modèles sur {models} sont faits. Le suivant est en préparation.</translation>
    </message>
    <message>
        <source>Scoring: {done} of {models} models are done; {documents} of {texts} texts of {name}.</source>
        <translation>Notation : {done} modèles sur {models} sont faits ; {documents} textes sur {texts} pour {name}.</translation>
    </message>
    <message>
        <source>Offered</source>
        <translation>Proposé</translation>
    </message>
    <message>
        <source>In the draw</source>
        <translation>Dans le tirage</translation>
    </message>
    <message>
        <source>Not in the draw</source>
        <translation>Hors du tirage</translation>
    </message>
    <message>
        <source>Not drawn</source>
        <translation>Non tiré</translation>
    </message>
    <message>
        <source>Drawn</source>
        <translation>Tiré au sort</translation>
    </message>
    <message>
        <source>All scored</source>
        <translation>Tout est noté</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>Terminé</translation>
    </message>
    <message>
        <source>Not in time</source>
        <translation>Hors délai</translation>
    </message>
    <message>
        <source>Scoring</source>
        <translation>Notation</translation>
    </message>
    <message>
        <source>Not possible</source>
        <translation>Pas possible</translation>
    </message>
    <message>
        <source>On</source>
        <translation>Activé</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>Désactivé</translation>
    </message>
    <message>
        <source>Your offer is in the log. After the deadline this computer draws a lot by itself; let Tequio run then, or others are drawn.</source>
        <translation>Votre proposition est dans le journal. Après la clôture, cet ordinateur tire un numéro tout seul ; laissez alors Tequio tourner, ou d’autres seront tirés.</translation>
    </message>
    <message>
        <source>Your lot is drawn. When the texts are opened, the lots decide who scores.</source>
        <translation>Votre numéro est tiré. À l’ouverture des textes, les numéros décident qui note.</translation>
    </message>
    <message>
        <source>No lot was drawn here in time, so others score. Nothing is lost.</source>
        <translation>Aucun numéro n’a été tiré ici à temps, d’autres notent donc. Rien n’est perdu.</translation>
    </message>
    <message>
        <source>Others were drawn. Thank you for the offer.</source>
        <translation>D’autres ont été tirés au sort. Merci de votre proposition.</translation>
    </message>
    <message>
        <source>All models are scored here, and committed to. The scores are revealed when all others have committed too, or their time is over.</source>
        <translation>Tous les modèles sont notés ici, et les notes sont engagées. Elles seront montrées quand tous les autres se seront engagés aussi, ou que leur délai sera écoulé.</translation>
    </message>
    <message>
        <source>All your scores are in the log. Thank you.</source>
        <translation>Toutes vos notes sont dans le journal. Merci.</translation>
    </message>
    <message>
        <source>Not all models were scored and revealed in time; the others' scores count.</source>
        <translation>Tous les modèles n’ont pas été notés et montrés à temps ; les notes des autres comptent.</translation>
    </message>
    <message>
        <source>You hold a part of the key to the texts, so others judge here.</source>
        <translation>Vous détenez une part de la clé des textes, d’autres évaluent donc ici.</translation>
    </message>
    <message>
        <source>Organisers do not judge.</source>
        <translation>Les organisateurs n’évaluent pas.</translation>
    </message>
    <message>
        <source>You entered {by}, so others judge here.</source>
        <translation>Vous avez inscrit {by}, d’autres évaluent donc ici.</translation>
    </message>
    <message>
        <source>You trained in a run that takes part, as {by}, so others judge here.</source>
        <translation>Vous avez participé à un entraînement inscrit, {by}, d’autres évaluent donc ici.</translation>
    </message>
    <message>
        <source>This computer cannot judge now: {by}.</source>
        <translation>Cet ordinateur ne peut pas évaluer en ce moment : {by}.</translation>
    </message>
    <message>
        <source>The ledger did not accept your offer: {by}.</source>
        <translation>Le registre n’a pas accepté votre proposition : {by}.</translation>
    </message>
</context>
<context>
    <name>keys</name>
    <message>
        <source>the key file {path} cannot be used: {why}</source>
        <translation>le fichier de clé {path} ne peut pas être utilisé : {why}</translation>
    </message>
    <message>
        <source>others may read the key file {path} (mode {mode}): run chmod 600 {path}</source>
        <translation>d’autres peuvent lire le fichier de clé {path} (mode {mode}) : exécutez chmod 600 {path}</translation>
    </message>
    <message>
        <source>the key file {path} has {size} bytes instead of {due}: restore it from a backup, or move it away to become a new peer</source>
        <translation>le fichier de clé {path} a {size} octets au lieu de {due} : restaurez-le depuis une sauvegarde, ou déplacez-le pour devenir un nouveau pair</translation>
    </message>
    <message>
        <source>the key file {path} is damaged: restore it from a backup</source>
        <translation>le fichier de clé {path} est endommagé : restaurez-le depuis une sauvegarde</translation>
    </message>
    <message>
        <source>no key found in {folder}: restore one from a backup, or make a new one</source>
        <translation>aucune clé trouvée dans {folder} : restaurez-en une depuis une sauvegarde, ou créez-en une nouvelle</translation>
    </message>
    <message>
        <source>there is a key in {folder} already: restoring puts it aside, making does not</source>
        <translation>il y a déjà une clé dans {folder} : une restauration la met de côté, une création non</translation>
    </message>
    <message>
        <source>the key file {path} is sealed: a passphrase is needed</source>
        <translation>le fichier de clé {path} est protégé : une phrase secrète est nécessaire</translation>
    </message>
    <message>
        <source>the passphrase does not open the key file</source>
        <translation>la phrase secrète n’ouvre pas le fichier de clé</translation>
    </message>
    <message>
        <source>the passphrase has fewer than {least} characters: choose a longer one</source>
        <translation>la phrase secrète a moins de {least} caractères : choisissez-en une plus longue</translation>
    </message>
    <message>
        <source>this system has no keyring that could keep a secret: choose another way to store it</source>
        <translation>ce système n’a pas de trousseau capable de garder un secret : choisissez une autre façon de le conserver</translation>
    </message>
    <message>
        <source>the system's keyring is locked: unlock it and try again</source>
        <translation>le trousseau du système est verrouillé : déverrouillez-le et réessayez</translation>
    </message>
    <message>
        <source>the system's keyring fails ({why}): try again, or choose a passphrase</source>
        <translation>le trousseau du système échoue ({why}) : réessayez, ou choisissez une phrase secrète</translation>
    </message>
    <message>
        <source>the system's keyring has not answered for {seconds} s: it may be asking for its password behind another window; try again then</source>
        <translation>le trousseau du système n’a pas répondu pendant {seconds} s : il demande peut-être son mot de passe derrière une autre fenêtre ; réessayez ensuite</translation>
    </message>
    <message>
        <source>the system's keyring has no entry for the key file {path}: it was emptied, or is another user's; restore the key from a backup</source>
        <translation>le trousseau du système n’a pas d’entrée pour le fichier de clé {path} : il a été vidé, ou appartient à un autre utilisateur ; restaurez la clé depuis une sauvegarde</translation>
    </message>
    <message>
        <source>the backup {path} cannot be used: {why}</source>
        <translation>la sauvegarde {path} ne peut pas être utilisée : {why}</translation>
    </message>
    <message>
        <source>the file {path} is not a key backup: choose the one that is</source>
        <translation>le fichier {path} n’est pas une sauvegarde de clé : choisissez celui qui l’est</translation>
    </message>
    <message>
        <source>the passphrase does not open the backup {path}, or the file is damaged</source>
        <translation>la phrase secrète n’ouvre pas la sauvegarde {path}, ou le fichier est endommagé</translation>
    </message>
    <message>
        <source>the backup {path} does not read back as it was written: choose another place, this one is unreliable</source>
        <translation>la sauvegarde {path} ne se relit pas telle qu’elle a été écrite : choisissez un autre emplacement, celui-ci n’est pas fiable</translation>
    </message>
    <message>
        <source>a key has {due} words and these are {count}</source>
        <translation>une clé a {due} mots et il y en a ici {count}</translation>
    </message>
    <message>
        <source>word {number}, {word}, is not in the list of words: check your copy on paper</source>
        <translation>le mot {number}, {word}, n’est pas dans la liste : vérifiez votre copie papier</translation>
    </message>
    <message>
        <source>word {number}, {word}, is not in the list of words: it may be {near}</source>
        <translation>le mot {number}, {word}, n’est pas dans la liste : c’est peut-être {near}</translation>
    </message>
    <message>
        <source>all words are in the list, but they do not fit together: one may be wrong, or two may be swapped</source>
        <translation>tous les mots sont dans la liste, mais ils ne vont pas ensemble : l’un est peut-être faux, ou deux sont inversés</translation>
    </message>
    <message>
        <source>the words do not belong together: look at word {number}, {word}, which may have been {near}</source>
        <translation>les mots ne vont pas ensemble : regardez le mot {number}, {word}, qui était peut-être {near}</translation>
    </message>
    <message>
        <source>the words do not belong together: words {first} and {second} may have changed places</source>
        <translation>les mots ne vont pas ensemble : les mots {first} et {second} ont peut-être été inversés</translation>
    </message>
</context>
<context>
    <name>notices</name>
    <message>
        <source>Dismiss</source>
        <translation>Masquer</translation>
    </message>
    <message>
        <source>Your settings could not be read. They are kept as {detail}, and the usual ones hold until you choose others.</source>
        <translation>Vos paramètres n’ont pas pu être lus. Ils sont conservés dans {detail}, et ceux par défaut s’appliquent jusqu’à ce que vous en choisissiez d’autres.</translation>
    </message>
    <message>
        <source>Your settings were written by a newer Tequio. What this one knows of them is used; they are kept as {detail}.</source>
        <translation>Vos paramètres ont été écrits par un Tequio plus récent. Ce que celui-ci en connaît est utilisé ; ils sont conservés dans {detail}.</translation>
    </message>
    <message>
        <source>Your settings could not be saved ({detail}). They hold until you quit; make room or make the file writable, and they will be saved.</source>
        <translation>Vos paramètres n’ont pas pu être enregistrés ({detail}). Ils s’appliquent jusqu’à ce que vous quittiez ; faites de la place ou rendez le fichier modifiable, et ils seront enregistrés.</translation>
    </message>
    <message>
        <source>A worker that was started elsewhere runs already. This window controls it, and it goes on when you quit.</source>
        <translation>Un service d’arrière-plan lancé ailleurs tourne déjà. Cette fenêtre le commande, et il continue quand vous quittez.</translation>
    </message>
    <message>
        <source>The worker here was started elsewhere, so this window cannot change its network. End it, then join again.</source>
        <translation>Le service d’arrière-plan a été lancé ailleurs, cette fenêtre ne peut donc pas changer son réseau. Arrêtez-le, puis rejoignez à nouveau.</translation>
    </message>
    <message>
        <source>You joined {detail}.</source>
        <translation>Vous avez rejoint {detail}.</translation>
    </message>
    <message>
        <source>This competition link is incomplete ({detail}). Copy it again.</source>
        <translation>Ce lien de compétition est incomplet ({detail}). Copiez-le à nouveau.</translation>
    </message>
    <message>
        <source>That competition is in another network, whose ledger is {detail}. Choose Join a network, then open the link again.</source>
        <translation>Cette compétition est dans un autre réseau, dont le registre est {detail}. Choisissez Rejoindre un réseau, puis rouvrez le lien.</translation>
    </message>
    <message>
        <source>Your desktop shows no tray icons, so closing this window minimises it. Ctrl+Q quits and stops lending.</source>
        <translation>Votre bureau n’affiche pas d’icônes de notification : fermer cette fenêtre la réduit. Ctrl+Q quitte et arrête le prêt.</translation>
    </message>
</context>
<context>
    <name>pages</name>
    <message>
        <source>Home</source>
        <translation>Accueil</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>Entraînements</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modèle</translation>
    </message>
    <message>
        <source>Competitions</source>
        <translation>Compétitions</translation>
    </message>
    <message>
        <source>Points</source>
        <translation>Points</translation>
    </message>
    <message>
        <source>Hardware</source>
        <translation>Matériel</translation>
    </message>
    <message>
        <source>Activity</source>
        <translation>Activité</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Paramètres</translation>
    </message>
</context>
<context>
    <name>remedies</name>
    <message>
        <source>Try again</source>
        <translation>Réessayer</translation>
    </message>
    <message>
        <source>At the present rate, this month's {cap} of traffic will be used up on {day}. Then nothing is lent until the next month, unless you raise the limit.</source>
        <translation>Au rythme actuel, les {cap} de trafic de ce mois seront épuisés le {day}. Rien ne sera alors prêté jusqu’au mois suivant, sauf si vous relevez la limite.</translation>
    </message>
    <message>
        <source>Statements that wait here for it: {waiting}.</source>
        <translation>Déclarations qui l’attendent ici : {waiting}.</translation>
    </message>
    <message>
        <source>Your key has no backup: if this disk fails, your points cannot be claimed.</source>
        <translation>Votre clé n’a pas de sauvegarde : si ce disque tombe en panne, vos points sont perdus.</translation>
    </message>
    <message>
        <source>Open Settings</source>
        <translation>Ouvrir Paramètres</translation>
    </message>
    <message>
        <source>Open Hardware</source>
        <translation>Ouvrir Matériel</translation>
    </message>
    <message>
        <source>Open Activity</source>
        <translation>Ouvrir Activité</translation>
    </message>
    <message>
        <source>Open Runs</source>
        <translation>Ouvrir Entraînements</translation>
    </message>
    <message>
        <source>Join a network…</source>
        <translation>Rejoindre un réseau…</translation>
    </message>
    <message>
        <source>Back it up</source>
        <translation>Sauvegarder</translation>
    </message>
    <message>
        <source>The network has not answered since {since}.</source>
        <translation>Le réseau ne répond plus depuis {since}.</translation>
    </message>
    <message>
        <source>The network has not answered since {since}. Work goes on, and points follow later.</source>
        <translation>Le réseau ne répond plus depuis {since}. Le travail continue, et les points suivront.</translation>
    </message>
    <message>
        <source>Update now</source>
        <translation>Mettre à jour</translation>
    </message>
    <message>
        <source>Update it the way it was installed, for example with git, pip or the system's packages.</source>
        <translation>Mettez-le à jour comme il a été installé, par exemple avec git, pip ou les paquets du système.</translation>
    </message>
</context>
<context>
    <name>sentences</name>
    <message>
        <source>{word}: {reason}</source>
        <translation>{word} : {reason}</translation>
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
        <translation>Arrête le prêt immédiatement</translation>
    </message>
    <message>
        <source>on</source>
        <translation>activé</translation>
    </message>
    <message>
        <source>off</source>
        <translation>désactivé</translation>
    </message>
    <message>
        <source>{note} Default: {default}.</source>
        <translation>{note} Par défaut : {default}.</translation>
    </message>
    <message>
        <source>When to lend</source>
        <translation>Quand prêter</translation>
    </message>
    <message>
        <source>Tequio runs only when every rule allows it. Changes apply immediately.</source>
        <translation>Tequio ne tourne que si toutes les règles le permettent. Les changements s’appliquent immédiatement.</translation>
    </message>
    <message>
        <source>While you're using the computer</source>
        <translation>Pendant que vous utilisez l’ordinateur</translation>
    </message>
    <message>
        <source>Games and films</source>
        <translation>Jeux et films</translation>
    </message>
    <message>
        <source>Power</source>
        <translation>Énergie</translation>
    </message>
    <message>
        <source>Other programs</source>
        <translation>Autres programmes</translation>
    </message>
    <message>
        <source>Competitions</source>
        <translation>Compétitions</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>Profil</translation>
    </message>
    <message>
        <source>Default: Balanced. A preset changes only the settings named on its card.</source>
        <translation>Par défaut : Équilibré. Un profil ne change que les paramètres indiqués sur sa carte.</translation>
    </message>
    <message>
        <source>Idle time before starting</source>
        <translation>Inactivité avant de démarrer</translation>
    </message>
    <message>
        <source>Starts after this long without input, or as soon as the screen is locked.</source>
        <translation>Démarre après cette durée sans activité, ou dès que l’écran est verrouillé.</translation>
    </message>
    <message>
        <source>min</source>
        <translation>min</translation>
    </message>
    <message>
        <source>Immediately</source>
        <translation>Immédiatement</translation>
    </message>
    <message>
        <source>Lend while I use the computer</source>
        <translation>Prêter pendant que j’utilise l’ordinateur</translation>
    </message>
    <message>
        <source>Tequio then works for part of the time. The rules for games and films still apply.</source>
        <translation>Tequio travaille alors une partie du temps. Les règles pour les jeux et les films s’appliquent toujours.</translation>
    </message>
    <message>
        <source>Share of the time</source>
        <translation>Part du temps</translation>
    </message>
    <message>
        <source>How much of the time Tequio works while you use the computer.</source>
        <translation>La part du temps pendant laquelle Tequio travaille quand vous utilisez l’ordinateur.</translation>
    </message>
    <message>
        <source>Keep the computer awake</source>
        <translation>Garder l’ordinateur éveillé</translation>
    </message>
    <message>
        <source>Keeps the computer from going to sleep while something is lent.</source>
        <translation>Empêche la mise en veille tant que quelque chose est prêté.</translation>
    </message>
    <message>
        <source>Hours of the week</source>
        <translation>Heures de la semaine</translation>
    </message>
    <message>
        <source>Drag to select hours, or use Shift+arrow keys; Space toggles an hour.</source>
        <translation>Faites glisser pour sélectionner des heures, ou utilisez Maj+flèches ; Espace bascule une heure.</translation>
    </message>
    <message>
        <source>all hours</source>
        <translation>toutes les heures</translation>
    </message>
    <message>
        <source>Pause for games</source>
        <translation>Pause pour les jeux</translation>
    </message>
    <message>
        <source>Nothing is lent while a game runs or fills the screen, and for 60 s afterwards.</source>
        <translation>Rien n’est prêté tant qu’un jeu tourne ou occupe l’écran, ni pendant les 60 s qui suivent.</translation>
    </message>
    <message>
        <source>Pause for films</source>
        <translation>Pause pour les films</translation>
    </message>
    <message>
        <source>Nothing is lent while a browser or a video player fills the screen.</source>
        <translation>Rien n’est prêté tant qu’un navigateur ou un lecteur vidéo occupe l’écran.</translation>
    </message>
    <message>
        <source>Exclusive programs</source>
        <translation>Programmes exclusifs</translation>
    </message>
    <message>
        <source>Nothing is lent while one of these runs: video editing, calls, recording.</source>
        <translation>Rien n’est prêté tant que l’un d’eux tourne : montage vidéo, appels, enregistrement.</translation>
    </message>
    <message>
        <source>none</source>
        <translation>aucun</translation>
    </message>
    <message>
        <source>Lend on battery</source>
        <translation>Prêter sur batterie</translation>
    </message>
    <message>
        <source>Continues when the computer is unplugged.</source>
        <translation>Continue quand l’ordinateur est débranché.</translation>
    </message>
    <message>
        <source>Lend in power saving mode</source>
        <translation>Prêter en économie d’énergie</translation>
    </message>
    <message>
        <source>Continues when power saving is switched on, by you or by the system.</source>
        <translation>Continue quand l’économie d’énergie est activée, par vous ou par le système.</translation>
    </message>
    <message>
        <source>Other programs on the GPU</source>
        <translation>Autres programmes sur le GPU</translation>
    </message>
    <message>
        <source>Pauses while other programs keep the GPU busier than this for 3 s.</source>
        <translation>Se met en pause quand d’autres programmes occupent davantage le GPU pendant 3 s.</translation>
    </message>
    <message>
        <source>%</source>
        <translation>%</translation>
    </message>
    <message>
        <source>Other programs on the CPU</source>
        <translation>Autres programmes sur le processeur</translation>
    </message>
    <message>
        <source>Pauses while other programs keep all CPU cores together busier than this.</source>
        <translation>Se met en pause quand d’autres programmes occupent davantage l’ensemble des cœurs.</translation>
    </message>
    <message>
        <source>Help judge competitions</source>
        <translation>Aider à évaluer les compétitions</translation>
    </message>
    <message>
        <source>Needs about five bytes of memory for each parameter of a model, and some minutes of computing for each model once the texts are open. It follows the same rules as training. A judge cannot win with their own entry, nor judge a run they trained in.</source>
        <translation>Demande environ cinq octets de mémoire par paramètre d’un modèle, et quelques minutes de calcul par modèle une fois les textes ouverts. Suit les mêmes règles que l’entraînement. Un évaluateur ne peut ni gagner avec son propre modèle, ni évaluer un entraînement auquel il a participé.</translation>
    </message>
    <message>
        <source>Network</source>
        <translation>Réseau</translation>
    </message>
    <message>
        <source>The network that you work for, and how much bandwidth that may take.</source>
        <translation>Le réseau pour lequel vous travaillez, et le débit qu’il peut prendre.</translation>
    </message>
    <message>
        <source>Your network</source>
        <translation>Votre réseau</translation>
    </message>
    <message>
        <source>Bandwidth</source>
        <translation>Débit</translation>
    </message>
    <message>
        <source>Per month</source>
        <translation>Par mois</translation>
    </message>
    <message>
        <source>Connections from others</source>
        <translation>Connexions des autres</translation>
    </message>
    <message>
        <source>Metered networks</source>
        <translation>Connexions limitées</translation>
    </message>
    <message>
        <source>Ledger</source>
        <translation>Registre</translation>
    </message>
    <message>
        <source>The server that keeps the public log of the network's work and points.</source>
        <translation>Le serveur qui tient le journal public du travail et des points du réseau.</translation>
    </message>
    <message>
        <source>Upload</source>
        <translation>Envoi</translation>
    </message>
    <message>
        <source>Upload limit. Stay below half your connection speed to keep games and calls smooth.</source>
        <translation>Limite d’envoi. Restez sous la moitié de votre débit pour que les jeux et les appels restent fluides.</translation>
    </message>
    <message>
        <source>Mbit/s</source>
        <translation>Mbit/s</translation>
    </message>
    <message>
        <source>No limit</source>
        <translation>Aucune limite</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>Téléchargement</translation>
    </message>
    <message>
        <source>Download limit. It does not slow the models that you score for competitions.</source>
        <translation>Limite de réception. Elle ne ralentit pas les modèles que vous notez pour les compétitions.</translation>
    </message>
    <message>
        <source>Monthly quota</source>
        <translation>Quota mensuel</translation>
    </message>
    <message>
        <source>Upload and download together. Once it is used up, lending resumes on the first of the next month.</source>
        <translation>Envoi et réception ensemble. Une fois épuisé, le prêt reprend le premier du mois suivant.</translation>
    </message>
    <message>
        <source>GB</source>
        <translation>Go</translation>
    </message>
    <message>
        <source>Used this month</source>
        <translation>Utilisé ce mois-ci</translation>
    </message>
    <message>
        <source>Others can connect to this computer</source>
        <translation>Les autres peuvent se connecter à cet ordinateur</translation>
    </message>
    <message>
        <source>Found out by asking other computers of the network to try.</source>
        <translation>Déterminé en demandant à d’autres ordinateurs du réseau d’essayer.</translation>
    </message>
    <message>
        <source>Open a port on the router</source>
        <translation>Ouvrir un port sur le routeur</translation>
    </message>
    <message>
        <source>Asks your router by UPnP or NAT-PMP to let other computers of the network connect to this one. The port is closed when Tequio ends.</source>
        <translation>Demande à votre routeur, par UPnP ou NAT-PMP, de laisser d’autres ordinateurs du réseau se connecter à celui-ci. Le port est fermé quand Tequio s’arrête.</translation>
    </message>
    <message>
        <source>Find members in the local network</source>
        <translation>Trouver des membres dans le réseau local</translation>
    </message>
    <message>
        <source>Computers behind the same router exchange directly instead of through the internet. Everyone in the local network can see that this computer runs Tequio.</source>
        <translation>Les ordinateurs derrière le même routeur échangent directement au lieu de passer par internet. Tout le monde dans le réseau local peut voir que cet ordinateur exécute Tequio.</translation>
    </message>
    <message>
        <source>Lend on metered networks</source>
        <translation>Prêter sur les connexions limitées</translation>
    </message>
    <message>
        <source>On a phone's hotspot, or where the system marks the network as metered.</source>
        <translation>Sur le partage de connexion d’un téléphone, ou quand le système marque la connexion comme limitée.</translation>
    </message>
    <message>
        <source>Storage</source>
        <translation>Stockage</translation>
    </message>
    <message>
        <source>How much disk space Tequio may use.</source>
        <translation>L’espace disque que Tequio peut utiliser.</translation>
    </message>
    <message>
        <source>Tequio's files</source>
        <translation>Fichiers de Tequio</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>Disque</translation>
    </message>
    <message>
        <source>Storage limit</source>
        <translation>Limite de stockage</translation>
    </message>
    <message>
        <source>For the model, data and updates of your runs. The oldest are deleted first.</source>
        <translation>Pour le modèle, les données et les mises à jour de vos entraînements. Les plus anciens sont supprimés en premier.</translation>
    </message>
    <message>
        <source>Used by Tequio</source>
        <translation>Utilisé par Tequio</translation>
    </message>
    <message>
        <source>Always keep free</source>
        <translation>Toujours garder libre</translation>
    </message>
    <message>
        <source>Lending waits when less disk space than this is free.</source>
        <translation>Le prêt attend quand il reste moins d’espace disque que cela.</translation>
    </message>
    <message>
        <source>Free now</source>
        <translation>Libre actuellement</translation>
    </message>
    <message>
        <source>On the disk that holds Tequio's files.</source>
        <translation>Sur le disque qui contient les fichiers de Tequio.</translation>
    </message>
    <message>
        <source>Notifications</source>
        <translation>Notifications</translation>
    </message>
    <message>
        <source>What Tequio notifies you of.</source>
        <translation>Ce que Tequio vous signale.</translation>
    </message>
    <message>
        <source>First points</source>
        <translation>Premiers points</translation>
    </message>
    <message>
        <source>Once, when your first points are verified.</source>
        <translation>Une seule fois, quand vos premiers points sont vérifiés.</translation>
    </message>
    <message>
        <source>Weekly rank</source>
        <translation>Rang de la semaine</translation>
    </message>
    <message>
        <source>Once a week, how your rank has changed.</source>
        <translation>Une fois par semaine, l’évolution de votre rang.</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>Attention</translation>
    </message>
    <message>
        <source>When lending cannot continue until you do something.</source>
        <translation>Quand le prêt ne peut pas continuer sans que vous fassiez quelque chose.</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>Entraînements</translation>
    </message>
    <message>
        <source>When a run you are in ends, or goes back to an earlier model.</source>
        <translation>Quand un entraînement auquel vous participez se termine ou revient à un modèle antérieur.</translation>
    </message>
    <message>
        <source>When one begins, when its deadline is near and when it is decided; when you are drawn to judge, and when all your scores are in.</source>
        <translation>Quand l’une commence, quand sa clôture approche et quand elle est décidée ; quand vous êtes tiré au sort pour évaluer, et quand toutes vos notes sont là.</translation>
    </message>
    <message>
        <source>Announcements</source>
        <translation>Annonces</translation>
    </message>
    <message>
        <source>When the organisers of the network announce something to everybody.</source>
        <translation>Quand les organisateurs du réseau annoncent quelque chose à tout le monde.</translation>
    </message>
    <message>
        <source>Notifications wait while a program fills the screen.</source>
        <translation>Les notifications attendent tant qu’un programme occupe l’écran.</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>Apparence</translation>
    </message>
    <message>
        <source>Colours, language and motion.</source>
        <translation>Couleurs, langue et animations.</translation>
    </message>
    <message>
        <source>Colours</source>
        <translation>Couleurs</translation>
    </message>
    <message>
        <source>A light or a dark theme.</source>
        <translation>Un thème clair ou sombre.</translation>
    </message>
    <message>
        <source>Same as system</source>
        <translation>Comme le système</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>Clair</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>Sombre</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Langue</translation>
    </message>
    <message>
        <source>For texts, dates and numbers. Texts without a translation are in English.</source>
        <translation>Pour les textes, les dates et les nombres. Les textes sans traduction sont en anglais.</translation>
    </message>
    <message>
        <source>Reduced motion</source>
        <translation>Animations réduites</translation>
    </message>
    <message>
        <source>No sliding or fading. The system's own setting has the same effect.</source>
        <translation>Ni glissement ni fondu. Le réglage du système a le même effet.</translation>
    </message>
    <message>
        <source>Account and keys</source>
        <translation>Compte et clés</translation>
    </message>
    <message>
        <source>Your identity on the network.</source>
        <translation>Votre identité sur le réseau.</translation>
    </message>
    <message>
        <source>Name and team</source>
        <translation>Nom et équipe</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>Clé</translation>
    </message>
    <message>
        <source>If this computer is lost or the key is stolen</source>
        <translation>Si cet ordinateur est perdu ou la clé volée</translation>
    </message>
    <message>
        <source>Public name</source>
        <translation>Nom public</translation>
    </message>
    <message>
        <source>Shown instead of your key in rankings and on pages. Unique in this network.</source>
        <translation>Affiché à la place de votre clé dans les classements et sur les pages. Unique dans ce réseau.</translation>
    </message>
    <message>
        <source>nickname rename</source>
        <translation>pseudo surnom renommer</translation>
    </message>
    <message>
        <source>Team</source>
        <translation>Équipe</translation>
    </message>
    <message>
        <source>Join one with a link from its owner, or found your own. What you earn also counts for your team.</source>
        <translation>Rejoignez-en une avec un lien de la personne responsable, ou créez la vôtre. Ce que vous gagnez compte aussi pour votre équipe.</translation>
    </message>
    <message>
        <source>group friends</source>
        <translation>groupe amis</translation>
    </message>
    <message>
        <source>Peer id</source>
        <translation>Identifiant de pair</translation>
    </message>
    <message>
        <source>How other computers find yours; visible to everyone.</source>
        <translation>Comment les autres ordinateurs trouvent le vôtre ; visible de tous.</translation>
    </message>
    <message>
        <source>Key fingerprint</source>
        <translation>Empreinte de la clé</translation>
    </message>
    <message>
        <source>The public half of your key, shown with your points and in the ranking. The secret half never leaves this computer; nobody who helps you will ask for it.</source>
        <translation>La moitié publique de votre clé, affichée avec vos points et dans le classement. La moitié secrète ne quitte jamais cet ordinateur ; personne qui vous aide ne la demandera.</translation>
    </message>
    <message>
        <source>Linked account</source>
        <translation>Compte associé</translation>
    </message>
    <message>
        <source>Shows the network that a person is behind your key. Some runs ask for it.</source>
        <translation>Montre au réseau qu’une personne est derrière votre clé. Certains entraînements le demandent.</translation>
    </message>
    <message>
        <source>connect vouch github tier</source>
        <translation>connecter attester github niveau</translation>
    </message>
    <message>
        <source>Standing</source>
        <translation>Statut</translation>
    </message>
    <message>
        <source>Your key is in good standing.</source>
        <translation>Votre clé est en règle.</translation>
    </message>
    <message>
        <source>Appeal</source>
        <translation>Recours</translation>
    </message>
    <message>
        <source>If your key was restricted by mistake, ask the organisers to review it.</source>
        <translation>Si votre clé a été restreinte par erreur, demandez aux organisateurs un réexamen.</translation>
    </message>
    <message>
        <source>quarantine ban suspected review</source>
        <translation>quarantaine bannissement suspect réexamen</translation>
    </message>
    <message>
        <source>Backup and restore</source>
        <translation>Sauvegarde et restauration</translation>
    </message>
    <message>
        <source>Setup</source>
        <translation>Configuration</translation>
    </message>
    <message>
        <source>Run the setup again. Nothing changes until you finish it.</source>
        <translation>Refaites la configuration. Rien ne change tant que vous ne l’avez pas terminée.</translation>
    </message>
    <message>
        <source>Recovery key</source>
        <translation>Clé de récupération</translation>
    </message>
    <message>
        <source>Stops this computer's key and moves your points to a new one, even if a thief has the computer. Keep it somewhere else.</source>
        <translation>Bloque la clé de cet ordinateur et transfère vos points vers une nouvelle, même si un voleur a l’ordinateur. Gardez-la ailleurs.</translation>
    </message>
    <message>
        <source>stolen lost theft words paper</source>
        <translation>volé perdu vol mots papier</translation>
    </message>
    <message>
        <source>Replace this computer's key</source>
        <translation>Remplacer la clé de cet ordinateur</translation>
    </message>
    <message>
        <source>A new key gets your points, standing, name and team. The present one can never be used again.</source>
        <translation>Une nouvelle clé reçoit vos points, votre statut, votre nom et votre équipe. L’actuelle ne pourra plus jamais être utilisée.</translation>
    </message>
    <message>
        <source>new key rotate stolen</source>
        <translation>nouvelle clé renouveler volée</translation>
    </message>
    <message>
        <source>A lost or stolen computer</source>
        <translation>Un ordinateur perdu ou volé</translation>
    </message>
    <message>
        <source>Stop the key of another computer of yours, or move its points to this one.</source>
        <translation>Bloquez la clé d’un autre de vos ordinateurs, ou transférez ses points vers celui-ci.</translation>
    </message>
    <message>
        <source>revoke stolen thief</source>
        <translation>révoquer volé voleur</translation>
    </message>
    <message>
        <source>Startup</source>
        <translation>Démarrage</translation>
    </message>
    <message>
        <source>Whether Tequio starts when you log in.</source>
        <translation>Si Tequio se lance à l’ouverture de votre session.</translation>
    </message>
    <message>
        <source>Start at login</source>
        <translation>Lancer à l’ouverture de session</translation>
    </message>
    <message>
        <source>Starts minimised to the tray; the window stays closed.</source>
        <translation>Démarre réduit dans la zone de notification ; la fenêtre reste fermée.</translation>
    </message>
    <message>
        <source>your choice during setup</source>
        <translation>votre choix lors de la configuration</translation>
    </message>
    <message>
        <source>autostart background hidden</source>
        <translation>démarrage automatique arrière-plan caché</translation>
    </message>
    <message>
        <source>Privacy</source>
        <translation>Confidentialité</translation>
    </message>
    <message>
        <source>Everything that leaves this computer, and where it goes.</source>
        <translation>Tout ce qui quitte cet ordinateur, et où cela va.</translation>
    </message>
    <message>
        <source>To the public ledger (permanent, readable by anyone)</source>
        <translation>Au registre public (permanent, lisible par tous)</translation>
    </message>
    <message>
        <source>To the ledger's operator</source>
        <translation>À l’exploitant du registre</translation>
    </message>
    <message>
        <source>To other volunteers in your runs</source>
        <translation>Aux autres volontaires de vos entraînements</translation>
    </message>
    <message>
        <source>To your router</source>
        <translation>À votre routeur</translation>
    </message>
    <message>
        <source>To your local network</source>
        <translation>À votre réseau local</translation>
    </message>
    <message>
        <source>To servers that offer Tequio or a run's data</source>
        <translation>Aux serveurs qui proposent Tequio ou les données d’un entraînement</translation>
    </message>
    <message>
        <source>Never sent</source>
        <translation>Jamais envoyé</translation>
    </message>
    <message>
        <source>Telemetry</source>
        <translation>Télémétrie</translation>
    </message>
    <message>
        <source>No usage data and no crash reports are ever sent. After an error you can copy a report and send it yourself.</source>
        <translation>Aucune donnée d’utilisation et aucun rapport de plantage n’est jamais envoyé. Après une erreur, vous pouvez copier un rapport et l’envoyer vous-même.</translation>
    </message>
    <message>
        <source>None</source>
        <translation>Aucune</translation>
    </message>
    <message>
        <source>Your public key, and the work that a new key costs</source>
        <translation>Votre clé publique, et le travail que coûte une nouvelle clé</translation>
    </message>
    <message>
        <source>Once, so that points have an owner.</source>
        <translation>Une fois, pour que les points aient un propriétaire.</translation>
    </message>
    <message>
        <source>That you are ready, in which roles, with which model</source>
        <translation>Que vous êtes prêt, dans quels rôles, avec quel modèle</translation>
    </message>
    <message>
        <source>Run, roles, the hash of the model you hold, a commitment for the draw.</source>
        <translation>Entraînement, rôles, le hachage de votre modèle, un engagement pour le tirage.</translation>
    </message>
    <message>
        <source>That you leave, with a reason code</source>
        <translation>Que vous partez, avec un code de motif</translation>
    </message>
    <message>
        <source>When lending stops. The code never says why you stopped.</source>
        <translation>Quand le prêt s’arrête. Le code ne dit jamais pourquoi vous avez arrêté.</translation>
    </message>
    <message>
        <source>The header of each update that you trained</source>
        <translation>L’en-tête de chaque mise à jour que vous avez entraînée</translation>
    </message>
    <message>
        <source>Run, round, windows of data, tokens, steps, two losses, hashes of model and update.</source>
        <translation>Entraînement, manche, fenêtres de données, tokens, étapes, deux pertes, hachages du modèle et de la mise à jour.</translation>
    </message>
    <message>
        <source>Which model you hold or computed for a round</source>
        <translation>Quel modèle vous détenez ou avez calculé pour une manche</translation>
    </message>
    <message>
        <source>Hashes of its parts, and your lot for the draw of witnesses.</source>
        <translation>Les hachages de ses parties, et votre numéro pour le tirage des témoins.</translation>
    </message>
    <message>
        <source>What you found as a witness</source>
        <translation>Ce que vous avez constaté comme témoin</translation>
    </message>
    <message>
        <source>Which updates arrived, which were refused and by which rule, hashes, the hash of the next model.</source>
        <translation>Quelles mises à jour sont arrivées, lesquelles ont été refusées et selon quelle règle, des hachages, le hachage du modèle suivant.</translation>
    </message>
    <message>
        <source>What you found when you repeated another volunteer's work</source>
        <translation>Ce que vous avez constaté en refaisant le travail d’un autre volontaire</translation>
    </message>
    <message>
        <source>How far its result is from yours, in a few numbers, and a sketch of yours.</source>
        <translation>L’écart entre son résultat et le vôtre, en quelques nombres, et un aperçu du vôtre.</translation>
    </message>
    <message>
        <source>How good a model is, where you were drawn to measure it</source>
        <translation>La qualité d’un modèle, si vous avez été tiré au sort pour la mesurer</translation>
    </message>
    <message>
        <source>Its hash, how many bits it needs for text that the run keeps aside, and how it continues a given beginning of a text.</source>
        <translation>Son hachage, combien de bits il lui faut pour un texte que l’entraînement met de côté, et comment il continue un début de texte donné.</translation>
    </message>
    <message>
        <source>Your offer to judge competitions, and your scores</source>
        <translation>Votre proposition d’évaluer les compétitions, et vos notes</translation>
    </message>
    <message>
        <source>If you switched it on: a lot for the draw, commitments, the bits of each text, the program's version, the device's name and its threads.</source>
        <translation>Si vous l’avez activé : un numéro pour le tirage, des engagements, les bits de chaque texte, la version du programme, le nom de l’appareil et ses threads.</translation>
    </message>
    <message>
        <source>Proofs that a key contradicted itself</source>
        <translation>Des preuves qu’une clé s’est contredite</translation>
    </message>
    <message>
        <source>Two statements signed by that key; and your appeal, if you make one.</source>
        <translation>Deux déclarations signées par cette clé ; et votre recours, si vous en déposez un.</translation>
    </message>
    <message>
        <source>That a key has a recovery key, was replaced or was revoked</source>
        <translation>Qu’une clé a une clé de récupération, a été remplacée ou révoquée</translation>
    </message>
    <message>
        <source>If you do that: the public halves of the keys, which shows that they have one owner.</source>
        <translation>Si vous le faites : les moitiés publiques des clés, ce qui montre qu’elles ont le même propriétaire.</translation>
    </message>
    <message>
        <source>What you publish yourself</source>
        <translation>Ce que vous publiez vous-même</translation>
    </message>
    <message>
        <source>Your public name; the team that you earn for; entries and challenges in competitions.</source>
        <translation>Votre nom public ; l’équipe pour laquelle vous gagnez ; les inscriptions et contestations dans les compétitions.</translation>
    </message>
    <message>
        <source>With each statement</source>
        <translation>Avec chaque déclaration</translation>
    </message>
    <message>
        <source>Its number, the time on your clock, the statement before it, your signature.</source>
        <translation>Son numéro, l’heure de votre horloge, la déclaration précédente, votre signature.</translation>
    </message>
    <message>
        <source>Your internet address and your requests</source>
        <translation>Votre adresse Internet et vos requêtes</translation>
    </message>
    <message>
        <source>As with every web server: log entries, runs, your own points and ranking.</source>
        <translation>Comme avec tout serveur web : entrées du journal, entraînements, vos propres points et votre rang.</translation>
    </message>
    <message>
        <source>The text of an appeal, if you write one</source>
        <translation>Le texte d’un recours, si vous en écrivez un</translation>
    </message>
    <message>
        <source>With your key, the time and your signature.</source>
        <translation>Avec votre clé, l’heure et votre signature.</translation>
    </message>
    <message>
        <source>Your peer id, addresses and ports</source>
        <translation>Votre identifiant de pair, vos adresses et vos ports</translation>
    </message>
    <message>
        <source>Including those of this computer in its local network, and the version of the network library.</source>
        <translation>Y compris ceux de cet ordinateur dans son réseau local, et la version de la bibliothèque réseau.</translation>
    </message>
    <message>
        <source>Updates, models, training data and Tequio itself</source>
        <translation>Mises à jour, modèles, données d’entraînement et Tequio lui-même</translation>
    </message>
    <message>
        <source>What you trained, and what others ask for: pieces of the public model and data, and of the versions of Tequio that you have fetched.</source>
        <translation>Ce que vous avez entraîné, et ce que d’autres demandent : des morceaux du modèle et des données publics, et des versions de Tequio que vous avez téléchargées.</translation>
    </message>
    <message>
        <source>Your statements of the current round</source>
        <translation>Vos déclarations de la manche en cours</translation>
    </message>
    <message>
        <source>The same statements that the ledger gets.</source>
        <translation>Les mêmes déclarations que reçoit le registre.</translation>
    </message>
    <message>
        <source>A port, and the name Tequio</source>
        <translation>Un port, et le nom Tequio</translation>
    </message>
    <message>
        <source>Only if you let Tequio open a port on the router, in Network.</source>
        <translation>Seulement si vous laissez Tequio ouvrir un port sur le routeur, dans Réseau.</translation>
    </message>
    <message>
        <source>That this computer runs Tequio, and its port</source>
        <translation>Le fait que cet ordinateur exécute Tequio, et son port</translation>
    </message>
    <message>
        <source>Only if you let Tequio find members there, in Network. Your key is not named.</source>
        <translation>Seulement si vous laissez Tequio y trouver des membres, dans Réseau. Votre clé n’est pas nommée.</translation>
    </message>
    <message>
        <source>Your internet address and what you fetch</source>
        <translation>Votre adresse Internet et ce que vous téléchargez</translation>
    </message>
    <message>
        <source>When Tequio looks for a newer version, or fetches it or what training needs.</source>
        <translation>Quand Tequio cherche une version plus récente, la télécharge, ou télécharge ce qu’il faut pour entraîner.</translation>
    </message>
    <message>
        <source>Your internet address and the parts you fetch</source>
        <translation>Votre adresse Internet et les parties que vous téléchargez</translation>
    </message>
    <message>
        <source>When the organiser of a run keeps its data on a web server.</source>
        <translation>Quand l’organisateur d’un entraînement conserve ses données sur un serveur web.</translation>
    </message>
    <message>
        <source>Your files, programs, games and windows</source>
        <translation>Vos fichiers, programmes, jeux et fenêtres</translation>
    </message>
    <message>
        <source>Tequio checks them on this computer only, to decide whether to lend.</source>
        <translation>Tequio ne les examine que sur cet ordinateur, pour décider s’il peut être prêté.</translation>
    </message>
    <message>
        <source>User name, computer name and device readings</source>
        <translation>Nom d’utilisateur, nom de l’ordinateur et mesures de l’appareil</translation>
    </message>
    <message>
        <source>Others see how fast you train. Judges also publish the name of the device that scored.</source>
        <translation>Les autres voient à quelle vitesse vous entraînez. Les évaluateurs publient aussi le nom de l’appareil qui a noté.</translation>
    </message>
    <message>
        <source>Your settings and hours</source>
        <translation>Vos paramètres et vos heures</translation>
    </message>
    <message>
        <source>They stay in the app's folder.</source>
        <translation>Ils restent dans le dossier de l’application.</translation>
    </message>
    <message>
        <source>Advanced</source>
        <translation>Avancé</translation>
    </message>
    <message>
        <source>Most people never need these.</source>
        <translation>La plupart des gens n’en ont jamais besoin.</translation>
    </message>
    <message>
        <source>Worker</source>
        <translation>Service d’arrière-plan</translation>
    </message>
    <message>
        <source>Updates</source>
        <translation>Mises à jour</translation>
    </message>
    <message>
        <source>Reset</source>
        <translation>Réinitialisation</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>Dossier</translation>
    </message>
    <message>
        <source>Key, store and state. To move it: quit, move the folder, and start with --dir.</source>
        <translation>Clé, stockage et état. Pour le déplacer : quittez, déplacez le dossier, puis lancez avec --dir.</translation>
    </message>
    <message>
        <source>Listen address</source>
        <translation>Adresse d’écoute</translation>
    </message>
    <message>
        <source>Where peers reach this computer, for example /ip4/0.0.0.0/tcp/4001.</source>
        <translation>Où les pairs joignent cet ordinateur, par exemple /ip4/0.0.0.0/tcp/4001.</translation>
    </message>
    <message>
        <source>any free port</source>
        <translation>un port libre quelconque</translation>
    </message>
    <message>
        <source>Log level</source>
        <translation>Niveau du journal</translation>
    </message>
    <message>
        <source>How much is written to worker.log in the folder. A change restarts the worker.</source>
        <translation>La quantité écrite dans worker.log, dans le dossier. Un changement redémarre le service d’arrière-plan.</translation>
    </message>
    <message>
        <source>Everything</source>
        <translation>Tout</translation>
    </message>
    <message>
        <source>Events</source>
        <translation>Événements</translation>
    </message>
    <message>
        <source>Warnings</source>
        <translation>Avertissements</translation>
    </message>
    <message>
        <source>Errors</source>
        <translation>Erreurs</translation>
    </message>
    <message>
        <source>Update automatically</source>
        <translation>Mettre à jour automatiquement</translation>
    </message>
    <message>
        <source>Once a day Tequio looks for a newer version, fetches it, and tests it. It starts while you are away and no round is running; if a passphrase protects your key, the next time Tequio starts.</source>
        <translation>Une fois par jour, Tequio cherche une version plus récente, la télécharge et la teste. Elle démarre en votre absence, quand aucune manche n’est en cours ; si une phrase secrète protège votre clé, au prochain lancement de Tequio.</translation>
    </message>
    <message>
        <source>Reset all settings</source>
        <translation>Réinitialiser tous les paramètres</translation>
    </message>
    <message>
        <source>Restores every default. Key, points, consent and chosen runs stay, except the processor's.</source>
        <translation>Rétablit toutes les valeurs par défaut. La clé, les points, l’accord et les entraînements choisis restent, sauf celui du processeur.</translation>
    </message>
</context>
<context>
    <name>vesting</name>
    <message>
        <source>{points} of your points are still vesting: they can be lost if work turns out not to have been done.</source>
        <translation>{points} de vos points sont encore provisoires : ils peuvent être perdus s’il s’avère que le travail n’a pas été fait.</translation>
    </message>
    <message>
        <source>{points} more were forfeited, and are no longer counted.</source>
        <translation>{points} autres ont été perdus, et ne sont plus comptés.</translation>
    </message>
</context>
<context>
    <name>words</name>
    <message>
        <source>Lending</source>
        <translation>En prêt</translation>
    </message>
    <message>
        <source>Finishing</source>
        <translation>Fin de manche</translation>
    </message>
    <message>
        <source>Waiting</source>
        <translation>En attente</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>En pause</translation>
    </message>
    <message>
        <source>Snoozed</source>
        <translation>Pause temporaire</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>Attention</translation>
    </message>
    <message>
        <source>nobody needs the computer. Gives way when you come back.</source>
        <translation>personne n’a besoin de l’ordinateur. Vous laisse la place dès que vous revenez.</translation>
    </message>
    <message>
        <source>this device is lent also while you use the computer or play.</source>
        <translation>cet appareil est prêté aussi pendant que vous utilisez l’ordinateur ou jouez.</translation>
    </message>
    <message>
        <source>whether or not somebody uses the computer, which this worker cannot see. Pause stops it (tequio pause).</source>
        <translation>même si quelqu’un utilise l’ordinateur, car ce service d’arrière-plan ne peut pas le voir. « Pause » l’arrête (tequio pause).</translation>
    </message>
    <message>
        <source>gently, at {share}% of the time, while you use the computer.</source>
        <translation>doucement, {share} % du temps, pendant que vous utilisez l’ordinateur.</translation>
    </message>
    <message>
        <source>you started it although a rule says to wait. The rules decide again once they have allowed it for 5 min.</source>
        <translation>vous l’avez démarré bien qu’une règle demande d’attendre. Les règles décideront à nouveau quand elles l’auront permis pendant 5 min.</translation>
    </message>
    <message>
        <source>scoring models for a competition, as you offered. See Competitions.</source>
        <translation>note des modèles pour une compétition, comme vous l’avez proposé. Voir Compétitions.</translation>
    </message>
    <message>
        <source>nothing is lent before you agree to it. Choose when to lend, then Contribute.</source>
        <translation>rien n’est prêté avant votre accord. Choisissez quand prêter, puis Contribuer.</translation>
    </message>
    <message>
        <source>you paused it. Resumes when you choose Contribute.</source>
        <translation>vous l’avez mis en pause. Reprendra quand vous choisirez Contribuer.</translation>
    </message>
    <message>
        <source>the last round is finished, as you asked. Resumes when you choose Contribute.</source>
        <translation>la dernière manche est finie, comme demandé. Reprendra quand vous choisirez Contribuer.</translation>
    </message>
    <message>
        <source>you asked for a break. Resumes automatically.</source>
        <translation>vous avez demandé une pause. Reprendra automatiquement.</translation>
    </message>
    <message>
        <source>you asked for a break. Resumes {until}.</source>
        <translation>vous avez demandé une pause. Reprise {until}.</translation>
    </message>
    <message>
        <source>this device is switched off. Switch it on in Hardware to lend it.</source>
        <translation>cet appareil est désactivé. Activez-le dans Matériel pour le prêter.</translation>
    </message>
    <message>
        <source>until {program} closes. Resumes 60 s after that.</source>
        <translation>jusqu’à la fermeture de {program}. Reprise 60 s après.</translation>
    </message>
    <message>
        <source>until your game closes. Resumes 60 s after that.</source>
        <translation>jusqu’à la fermeture de votre jeu. Reprise 60 s après.</translation>
    </message>
    <message>
        <source>your game has closed. Resumes {until}.</source>
        <translation>votre jeu est fermé. Reprise {until}.</translation>
    </message>
    <message>
        <source>round {round} is the last one. Then lending stops, as you asked.</source>
        <translation>la manche {round} est la dernière. Ensuite le prêt s’arrête, comme demandé.</translation>
    </message>
    <message>
        <source>what training needs is not installed yet. Resumes when it has been downloaded.</source>
        <translation>ce qu’il faut pour entraîner n’est pas encore installé. Reprendra après le téléchargement.</translation>
    </message>
    <message>
        <source>the training program keeps failing. Contribute tries again; Activity has the log.</source>
        <translation>le programme d’entraînement échoue sans cesse. Contribuer réessaie ; le journal est dans Activité.</translation>
    </message>
    <message>
        <source>can't reach the network at {address}. Tequio keeps trying; check your connection, or the address in Settings, Network.</source>
        <translation>impossible de joindre le réseau à {address}. Tequio continue d’essayer ; vérifiez votre connexion, ou l’adresse dans Paramètres, Réseau.</translation>
    </message>
    <message>
        <source>no network was chosen yet. Choose one with Join a network.</source>
        <translation>aucun réseau n’a encore été choisi. Choisissez-en un avec Rejoindre un réseau.</translation>
    </message>
    <message>
        <source>can't reach the network at {address}. Resumes when it answers.</source>
        <translation>impossible de joindre le réseau à {address}. Reprendra quand il répondra.</translation>
    </message>
    <message>
        <source>the other computers of the run cannot be reached. Tequio keeps trying; the listen address is in Settings, Advanced.</source>
        <translation>les autres ordinateurs de l’entraînement sont injoignables. Tequio continue d’essayer ; l’adresse d’écoute est dans Paramètres, Avancé.</translation>
    </message>
    <message>
        <source>no run is open now. Resumes automatically when one opens.</source>
        <translation>aucun entraînement n’est ouvert en ce moment. Reprendra automatiquement dès qu’il y en aura un.</translation>
    </message>
    <message>
        <source>no open run fits this computer. Resumes when one does; Runs says what each needs.</source>
        <translation>aucun entraînement ouvert ne convient à cet ordinateur. Reprendra dès qu’il y en aura un ; Entraînements indique ce qu’il faut à chacun.</translation>
    </message>
    <message>
        <source>every open run that fits this device is trained by another one of this computer. Resumes when another one opens.</source>
        <translation>chaque entraînement ouvert qui convient à cet appareil est déjà confié à un autre appareil de cet ordinateur. Reprendra quand un autre ouvrira.</translation>
    </message>
    <message>
        <source>the run has ended. Resumes with another one; your points stay yours.</source>
        <translation>l’entraînement est terminé. Reprendra avec un autre ; vos points restent à vous.</translation>
    </message>
    <message>
        <source>this computer cannot take part in the run ({problem}). See Runs; retries automatically.</source>
        <translation>cet ordinateur ne peut pas participer à l’entraînement ({problem}). Voir Entraînements ; nouvel essai automatique.</translation>
    </message>
    <message>
        <source>the run brings its own code ({plugin}), which needs your consent. See Runs to allow it, or to choose another run.</source>
        <translation>l’entraînement apporte son propre code ({plugin}), qui demande votre accord. Autorisez-le dans Entraînements, ou choisissez-en un autre.</translation>
    </message>
    <message>
        <source>your key cannot take part now ({problem}). See Activity for what you can do.</source>
        <translation>votre clé ne peut pas participer en ce moment ({problem}). Activité indique ce que vous pouvez faire.</translation>
    </message>
    <message>
        <source>this network needs version {wanted} or newer; this is {own}. Resumes once Tequio is updated.</source>
        <translation>ce réseau demande la version {wanted} ou plus récente ; celle-ci est {own}. Reprendra une fois Tequio mis à jour.</translation>
    </message>
    <message>
        <source>this computer's clock is {minutes} min ahead, so the network refuses its work. Resumes once the clock is set right.</source>
        <translation>l’horloge de cet ordinateur avance de {minutes} min, et le réseau refuse son travail. Reprendra quand elle sera à l’heure.</translation>
    </message>
    <message>
        <source>this computer's clock is {minutes} min behind, so the network refuses its work. Resumes once the clock is set right.</source>
        <translation>l’horloge de cet ordinateur retarde de {minutes} min, et le réseau refuse son travail. Reprendra quand elle sera à l’heure.</translation>
    </message>
    <message>
        <source>no device is enabled. Turn one on in Hardware.</source>
        <translation>aucun appareil n’est activé. Activez-en un dans Matériel.</translation>
    </message>
    <message>
        <source>{device} has too little memory for this run, which needs {wanted} GB. Raise its limit in Hardware, choose another run, or open a cell with others in your network (tequio cell host).</source>
        <translation>{device} a trop peu de mémoire pour cet entraînement, qui demande {wanted} Go. Relevez sa limite dans Matériel, choisissez un autre entraînement ou ouvrez une cellule avec d’autres de votre réseau (tequio cell host).</translation>
    </message>
    <message>
        <source>only {free} GB of disk space are free, and {wanted} GB should stay free. Resumes when there is 1 GB more than that.</source>
        <translation>seulement {free} Go d’espace disque sont libres, et {wanted} Go doivent le rester. Reprendra avec 1 Go de plus que cela.</translation>
    </message>
    <message>
        <source>cannot tell how much disk is free. Check that the store's folder is there.</source>
        <translation>impossible de savoir combien de disque est libre. Vérifiez que le dossier de stockage est là.</translation>
    </message>
    <message>
        <source>the store holds {used} GB of at most {most} GB. Resumes when it has been trimmed; its limit is in Settings, Storage.</source>
        <translation>le stockage occupe {used} Go sur {most} Go au plus. Reprendra quand il aura été réduit ; sa limite est dans Paramètres, Stockage.</translation>
    </message>
    <message>
        <source>the computer runs on battery. Resumes on mains power.</source>
        <translation>l’ordinateur est sur batterie. Reprendra sur secteur.</translation>
    </message>
    <message>
        <source>cannot tell whether the computer runs on battery. See Health in Activity, or allow lending on battery in Settings, When to lend.</source>
        <translation>impossible de savoir si l’ordinateur est sur batterie. Voir État dans Activité, ou autorisez le prêt sur batterie dans Paramètres, Quand prêter.</translation>
    </message>
    <message>
        <source>cannot tell whether the computer saves power. See Health in Activity, or allow that in Settings, When to lend.</source>
        <translation>impossible de savoir si l’ordinateur économise l’énergie. Voir État dans Activité, ou autorisez-le dans Paramètres, Quand prêter.</translation>
    </message>
    <message>
        <source>the hardware probe does not answer. Resumes when it does; see Health in Activity.</source>
        <translation>la surveillance du matériel ne répond pas. Reprendra quand elle répondra ; voir État dans Activité.</translation>
    </message>
    <message>
        <source>the hardware is being checked. Resumes in a moment.</source>
        <translation>vérification du matériel en cours. Reprendra dans un instant.</translation>
    </message>
    <message>
        <source>power saving is on. Resumes when it is turned off.</source>
        <translation>l’économie d’énergie est activée. Reprendra quand elle sera désactivée.</translation>
    </message>
    <message>
        <source>{device} is at {degrees} °C, above your limit of {limit} °C. Resumes when it is 5 °C below the limit.</source>
        <translation>{device} est à {degrees} °C, au-dessus de votre limite de {limit} °C. Reprendra à 5 °C sous la limite.</translation>
    </message>
    <message>
        <source>a game is running ({program}). Resumes 60 s after it closes.</source>
        <translation>un jeu est en cours ({program}). Reprise 60 s après sa fermeture.</translation>
    </message>
    <message>
        <source>a game is fullscreen ({program}). Resumes 60 s after it closes.</source>
        <translation>un jeu est en plein écran ({program}). Reprise 60 s après sa fermeture.</translation>
    </message>
    <message>
        <source>a film is fullscreen ({program}). Resumes 60 s after it closes.</source>
        <translation>un film est en plein écran ({program}). Reprise 60 s après sa fermeture.</translation>
    </message>
    <message>
        <source>{program} is running, and you want nothing lent beside it. Resumes 60 s after it closes.</source>
        <translation>{program} est en cours, et vous ne voulez rien prêter à côté. Reprise 60 s après sa fermeture.</translation>
    </message>
    <message>
        <source>a game or another exclusive program has just closed. Resumes {until}.</source>
        <translation>un jeu ou un autre programme exclusif vient de se fermer. Reprise {until}.</translation>
    </message>
    <message>
        <source>outside the hours in which you lend. Resumes {until}.</source>
        <translation>en dehors de vos heures de prêt. Reprise {until}.</translation>
    </message>
    <message>
        <source>no hour of the week is chosen. Choose some in Settings, When to lend.</source>
        <translation>aucune heure de la semaine n’est choisie. Choisissez-en dans Paramètres, Quand prêter.</translation>
    </message>
    <message>
        <source>this month's {gb} GB of traffic are used up. Resumes {until}.</source>
        <translation>les {gb} Go de trafic de ce mois sont épuisés. Reprise {until}.</translation>
    </message>
    <message>
        <source>this network is metered. Resumes on another network.</source>
        <translation>cette connexion est limitée. Reprendra sur un autre réseau.</translation>
    </message>
    <message>
        <source>cannot tell whether this network is metered. See Health in Activity, or allow metered networks in Settings, Network.</source>
        <translation>impossible de savoir si cette connexion est limitée. Voir État dans Activité, ou autorisez les connexions limitées dans Paramètres, Réseau.</translation>
    </message>
    <message>
        <source>you are using the computer. Resumes after {minutes} min without input.</source>
        <translation>vous utilisez l’ordinateur. Reprise après {minutes} min sans activité.</translation>
    </message>
    <message>
        <source>cannot tell whether you are away. See Health in Activity.</source>
        <translation>impossible de savoir si vous êtes absent. Voir État dans Activité.</translation>
    </message>
    <message>
        <source>cannot tell whether you are away: nothing is known of your session. Resumes when its probes answer; see Health in Activity.</source>
        <translation>impossible de savoir si vous êtes absent : on ne sait rien de votre session. Reprendra quand ses sondes répondront ; voir État dans Activité.</translation>
    </message>
    <message>
        <source>cannot tell when you last touched the computer. Resumes when it is locked; see Health in Activity.</source>
        <translation>impossible de savoir quand vous avez touché l’ordinateur pour la dernière fois. Reprendra quand il sera verrouillé ; voir État dans Activité.</translation>
    </message>
    <message>
        <source>cannot tell whether a program fills the screen. Resumes when the computer is locked; see Health in Activity, or switch off pausing for games in Settings, When to lend.</source>
        <translation>impossible de savoir si un programme occupe l’écran. Reprendra quand l’ordinateur sera verrouillé ; voir État dans Activité, ou désactivez la pause pour les jeux dans Paramètres, Quand prêter.</translation>
    </message>
    <message>
        <source>cannot tell whether a game is running. See Health in Activity, or switch off pausing for games in Settings, When to lend.</source>
        <translation>impossible de savoir si un jeu est en cours. Voir État dans Activité, ou désactivez la pause pour les jeux dans Paramètres, Quand prêter.</translation>
    </message>
    <message>
        <source>cannot tell whether one of your exclusive programs is running. See Health in Activity, or empty their list in Settings, When to lend.</source>
        <translation>impossible de savoir si l’un de vos programmes exclusifs est en cours. Voir État dans Activité, ou videz leur liste dans Paramètres, Quand prêter.</translation>
    </message>
    <message>
        <source>another user is using this computer. Resumes when they have logged out.</source>
        <translation>un autre utilisateur se sert de cet ordinateur. Reprendra quand il aura fermé sa session.</translation>
    </message>
    <message>
        <source>other programs are using {percent}% of {device}. Resumes 60 s after they finish.</source>
        <translation>d’autres programmes utilisent {percent} % de {device}. Reprise 60 s après leur fin.</translation>
    </message>
    <message>
        <source>other programs needed {device}. Resumes {until}.</source>
        <translation>d’autres programmes avaient besoin de {device}. Reprise {until}.</translation>
    </message>
    <message>
        <source>other programs are using {percent}% of your CPU. Resumes below {below}%.</source>
        <translation>d’autres programmes utilisent {percent} % de votre processeur. Reprendra sous {below} %.</translation>
    </message>
    <message>
        <source>cannot tell how much CPU other programs use. See Health in Activity, or set that limit to 100% in Settings, When to lend.</source>
        <translation>impossible de savoir combien de processeur les autres programmes utilisent. Voir État dans Activité, ou mettez cette limite à 100 % dans Paramètres, Quand prêter.</translation>
    </message>
    <message>
        <source>{device} has {free} GB of memory free and training needs {wanted} GB. Resumes when other programs give it back.</source>
        <translation>{device} a {free} Go de mémoire libre et l’entraînement en demande {wanted} Go. Reprendra quand d’autres programmes en libéreront.</translation>
    </message>
    <message>
        <source>cannot tell what the graphics cards do: their probe does not answer. Resumes when it does; see Health in Activity.</source>
        <translation>impossible de savoir ce que font les cartes graphiques : leur sonde ne répond pas. Reprendra quand elle répondra ; voir État dans Activité.</translation>
    </message>
    <message>
        <source>the graphics cards are being checked. Resumes in a moment.</source>
        <translation>vérification des cartes graphiques en cours. Reprendra dans un instant.</translation>
    </message>
    <message>
        <source>cannot tell how busy other programs keep {device}. See Health in Activity, or set that limit to 100% in Settings, When to lend.</source>
        <translation>impossible de savoir à quel point les autres programmes occupent {device}. Voir État dans Activité, ou mettez cette limite à 100 % dans Paramètres, Quand prêter.</translation>
    </message>
    <message>
        <source>cannot tell how much memory of {device} is free. See Health in Activity.</source>
        <translation>impossible de savoir combien de mémoire de {device} est libre. Voir État dans Activité.</translation>
    </message>
    <message>
        <source>training was slowed down: another program needs the device. Resumes {until}.</source>
        <translation>l’entraînement a été ralenti : un autre programme a besoin de l’appareil. Reprise {until}.</translation>
    </message>
    <message>
        <source>in {seconds} s</source>
        <translation>dans {seconds} s</translation>
    </message>
    <message>
        <source>in {minutes} min</source>
        <translation>dans {minutes} min</translation>
    </message>
    <message>
        <source>at {time}</source>
        <translation>à {time}</translation>
    </message>
    <message>
        <source>on {weekday} at {time}</source>
        <translation>{weekday} à {time}</translation>
    </message>
    <message>
        <source>on {date} at {time}</source>
        <translation>le {date} à {time}</translation>
    </message>
    <message>
        <source>Started, version {version}.</source>
        <translation>Démarré, version {version}.</translation>
    </message>
    <message>
        <source>Your settings were changed.</source>
        <translation>Vos paramètres ont été modifiés.</translation>
    </message>
    <message>
        <source>Joined the run {run}.</source>
        <translation>A rejoint l’entraînement {run}.</translation>
    </message>
    <message>
        <source>Left the run {run}.</source>
        <translation>A quitté l’entraînement {run}.</translation>
    </message>
    <message>
        <source>The run {run} has ended.</source>
        <translation>L’entraînement {run} est terminé.</translation>
    </message>
    <message>
        <source>{run}, round {round}: your work was accepted, for {points} points.</source>
        <translation>{run}, manche {round} : votre travail a été accepté, pour {points} points.</translation>
    </message>
    <message>
        <source>{run}, round {round}: {points} points for checking others' work.</source>
        <translation>{run}, manche {round} : {points} points pour la vérification du travail des autres.</translation>
    </message>
    <message>
        <source>{run}, round {round}: {points} points that another key shared with yours.</source>
        <translation>{run}, manche {round} : {points} points qu’une autre clé a partagés avec la vôtre.</translation>
    </message>
    <message>
        <source>{run}, round {round}: you were not asked to do anything that earns points.</source>
        <translation>{run}, manche {round} : on ne vous a rien demandé qui rapporte des points.</translation>
    </message>
    <message>
        <source>{run}, round {round}: too few witnesses received your work in time. This does not count against you.</source>
        <translation>{run}, manche {round} : trop peu de témoins ont reçu votre travail à temps. Cela ne vous est pas reproché.</translation>
    </message>
    <message>
        <source>{run}, round {round}: the round ended without your work.</source>
        <translation>{run}, manche {round} : la manche s’est terminée sans votre travail.</translation>
    </message>
    <message>
        <source>{run}, round {round}: the round is void, and its work is assigned again.</source>
        <translation>{run}, manche {round} : la manche est nulle, et son travail est réattribué.</translation>
    </message>
    <message>
        <source>{run}, round {round}: the witnesses refused your work ({reason}).</source>
        <translation>{run}, manche {round} : les témoins ont refusé votre travail ({reason}).</translation>
    </message>
    <message>
        <source>{run}, round {round}: {points} points for repeating another volunteer's work of round {audited}.</source>
        <translation>{run}, manche {round} : {points} points pour avoir refait le travail d’un autre volontaire, de la manche {audited}.</translation>
    </message>
    <message>
        <source>{run}, round {round}: the round ended without your audit.</source>
        <translation>{run}, manche {round} : la manche s’est terminée sans votre audit.</translation>
    </message>
    <message>
        <source>You were chosen to repeat another volunteer's work of round {round}. This computer could not: {declined}. You are not asked again for a while; your training goes on.</source>
        <translation>Vous avez été choisi pour refaire le travail d’un autre volontaire, de la manche {round}. Cet ordinateur n’a pas pu : {declined}. On ne vous le demandera plus pendant un moment ; votre entraînement continue.</translation>
    </message>
    <message>
        <source>Another volunteer repeated your work of round {round}. It counts, but the results differ slightly more than usual. Unusual hardware can cause this. To be sure, measure your device again in Hardware.</source>
        <translation>Un autre volontaire a refait votre travail de la manche {round}. Il compte, mais les résultats diffèrent un peu plus que d’habitude. Un matériel inhabituel peut en être la cause. Pour en être sûr, mesurez à nouveau votre appareil dans Matériel.</translation>
    </message>
    <message>
        <source>Your key is now {standing}. Other volunteers repeated the same work in an audit and got other results than you. Often the computer is at fault: measure its device again in Hardware, update the graphics driver, and test the memory (RAM). If that finds nothing, you can appeal in Settings, Account and keys.</source>
        <translation>Votre clé est maintenant {standing}. D’autres volontaires ont refait le même travail lors d’un audit et ont obtenu d’autres résultats que vous. Souvent, l’ordinateur est en cause : mesurez à nouveau son appareil dans Matériel, mettez à jour le pilote graphique, et testez la mémoire (RAM). Si cela ne révèle rien, vous pouvez déposer un recours dans Paramètres, Compte et clés.</translation>
    </message>
    <message>
        <source>The ledger says that you have {ledger} points, but its log proves {proven}. What is not proven is not counted here.</source>
        <translation>Le registre indique que vous avez {ledger} points, mais son journal en prouve {proven}. Ce qui n’est pas prouvé n’est pas compté ici.</translation>
    </message>
    <message>
        <source>{run}: downloaded and verified the model from round {round}.</source>
        <translation>{run} : modèle de la manche {round} téléchargé et vérifié.</translation>
    </message>
    <message>
        <source>Your key is now {standing}.</source>
        <translation>Votre clé est maintenant {standing}.</translation>
    </message>
    <message>
        <source>Your key is now {standing}. Reason: {cause}. If that is wrong, you can appeal in Settings, Account and keys.</source>
        <translation>Votre clé est maintenant {standing}. Motif : {cause}. Si c’est une erreur, vous pouvez déposer un recours dans Paramètres, Compte et clés.</translation>
    </message>
    <message>
        <source>The network cannot be reached. Work goes on without it for a while.</source>
        <translation>Le réseau est injoignable. Le travail continue sans lui pendant un moment.</translation>
    </message>
    <message>
        <source>The ledger can be reached again.</source>
        <translation>Le registre est de nouveau joignable.</translation>
    </message>
    <message>
        <source>The ledger shows another log than before ({problem}). Its answers are no longer trusted.</source>
        <translation>Le registre montre un autre journal qu’avant ({problem}). On ne se fie plus à ses réponses.</translation>
    </message>
    <message>
        <source>The training program stopped unexpectedly and was restarted.</source>
        <translation>Le programme d’entraînement s’est arrêté de façon inattendue et a été relancé.</translation>
    </message>
    <message>
        <source>A file was damaged or belongs to another program. It was kept as {file}, and a new one was started.</source>
        <translation>Un fichier était endommagé ou appartient à un autre programme. Il est conservé dans {file}, et un nouveau a été créé.</translation>
    </message>
    <message>
        <source>This computer's clock was changed by {seconds} s.</source>
        <translation>L’horloge de cet ordinateur a été changée de {seconds} s.</translation>
    </message>
    <message>
        <source>It is not known yet whether other computers can connect to this one.</source>
        <translation>On ne sait pas encore si d’autres ordinateurs peuvent se connecter à celui-ci.</translation>
    </message>
    <message>
        <source>Other computers can connect to this one.</source>
        <translation>D’autres ordinateurs peuvent se connecter à celui-ci.</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, because your router is in between. Nothing is lost: your work travels through seeds. To change it, let Tequio open a port on the router in Settings, Network, or forward TCP port {port} to this computer there.</source>
        <translation>Les autres ordinateurs ne peuvent pas se connecter à celui-ci, car votre routeur est entre les deux. Rien n’est perdu : votre travail passe par des seeds. Pour changer cela, laissez Tequio ouvrir un port sur le routeur dans Paramètres, Réseau, ou redirigez-y le port TCP {port} vers cet ordinateur.</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, probably because of a firewall. Nothing is lost: your work travels through seeds. To change it, allow incoming connections to TCP port {port}.</source>
        <translation>Les autres ordinateurs ne peuvent pas se connecter à celui-ci, probablement à cause d’un pare-feu. Rien n’est perdu : votre travail passe par des seeds. Pour changer cela, autorisez les connexions entrantes vers le port TCP {port}.</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one yet. Tequio is asking your router to open a port.</source>
        <translation>Les autres ordinateurs ne peuvent pas encore se connecter à celui-ci. Tequio demande à votre routeur d’ouvrir un port.</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, although your router has opened a port: another router or a firewall is in between. Nothing is lost: your work travels through seeds.</source>
        <translation>Les autres ordinateurs ne peuvent pas se connecter à celui-ci, bien que votre routeur ait ouvert un port : un autre routeur ou un pare-feu est entre les deux. Rien n’est perdu : votre travail passe par des seeds.</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, and no router answers by UPnP or NAT-PMP. Nothing is lost: your work travels through seeds. To change it, switch UPnP on in your router, or forward TCP port {port} to this computer there.</source>
        <translation>Les autres ordinateurs ne peuvent pas se connecter à celui-ci, et aucun routeur ne répond par UPnP ou NAT-PMP. Rien n’est perdu : votre travail passe par des seeds. Pour changer cela, activez UPnP sur votre routeur, ou redirigez-y le port TCP {port} vers cet ordinateur.</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, and your router refused to open a port ({problem}). Nothing is lost: your work travels through seeds. To change it, forward TCP port {port} to this computer in your router.</source>
        <translation>Les autres ordinateurs ne peuvent pas se connecter à celui-ci, et votre routeur a refusé d’ouvrir un port ({problem}). Rien n’est perdu : votre travail passe par des seeds. Pour changer cela, redirigez sur votre routeur le port TCP {port} vers cet ordinateur.</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, because your router is behind another one: your provider's, or your building's. Nothing is lost: your work travels through seeds. Only your provider can change it, with a public address.</source>
        <translation>Les autres ordinateurs ne peuvent pas se connecter à celui-ci, car votre routeur est derrière un autre : celui de votre fournisseur ou celui de votre immeuble. Rien n’est perdu : votre travail passe par des seeds. Seul votre fournisseur peut changer cela, avec une adresse publique.</translation>
    </message>
    <message>
        <source>Other members can still connect directly, when a seed introduces you to each other.</source>
        <translation>Les autres membres peuvent tout de même se connecter directement, quand un seed vous met en relation.</translation>
    </message>
    <message>
        <source>Seeds cannot introduce you to other members, because your router gives each connection another port.</source>
        <translation>Les seeds ne peuvent pas vous mettre en relation avec d’autres membres, car votre routeur donne à chaque connexion un autre port.</translation>
    </message>
    <message>
        <source>An event that this version does not know ({code}).</source>
        <translation>Un événement que cette version ne connaît pas ({code}).</translation>
    </message>
    <message>
        <source>for a reason that this version does not know ({reason})</source>
        <translation>pour une raison que cette version ne connaît pas ({reason})</translation>
    </message>
    <message>
        <source>Pending</source>
        <translation>En attente</translation>
    </message>
    <message>
        <source>Verified</source>
        <translation>Vérifiée</translation>
    </message>
    <message>
        <source>Rejected</source>
        <translation>Refusée</translation>
    </message>
    <message>
        <source>the round is void; its work is assigned again</source>
        <translation>la manche est nulle ; son travail est réattribué</translation>
    </message>
    <message>
        <source>the round ended without your work</source>
        <translation>la manche s’est terminée sans votre travail</translation>
    </message>
    <message>
        <source>too few witnesses received your work in time; this does not count against you</source>
        <translation>trop peu de témoins ont reçu votre travail à temps ; cela ne vous est pas reproché</translation>
    </message>
    <message>
        <source>you were not asked to do anything that earns points</source>
        <translation>on ne vous a rien demandé qui rapporte des points</translation>
    </message>
    <message>
        <source>the round ended without your audit</source>
        <translation>la manche s’est terminée sans votre audit</translation>
    </message>
    <message>
        <source>the witnesses gave no reason</source>
        <translation>les témoins n’ont pas donné de raison</translation>
    </message>
    <message>
        <source>the contribution had the wrong length</source>
        <translation>la contribution n’avait pas la bonne longueur</translation>
    </message>
    <message>
        <source>the contribution was not in the right format</source>
        <translation>la contribution n’était pas au bon format</translation>
    </message>
    <message>
        <source>the contribution was in a format of another version</source>
        <translation>la contribution était au format d’une autre version</translation>
    </message>
    <message>
        <source>the contribution did not have the shape of the model</source>
        <translation>la contribution n’avait pas la forme du modèle</translation>
    </message>
    <message>
        <source>the contribution had marks that are not allowed</source>
        <translation>la contribution contenait des marques non autorisées</translation>
    </message>
    <message>
        <source>the contribution was for another run</source>
        <translation>la contribution était pour un autre entraînement</translation>
    </message>
    <message>
        <source>the contribution was for another round</source>
        <translation>la contribution était pour une autre manche</translation>
    </message>
    <message>
        <source>the work began from another version of the model</source>
        <translation>le travail est parti d’une autre version du modèle</translation>
    </message>
    <message>
        <source>the contribution named another trainer</source>
        <translation>la contribution désignait un autre entraîneur</translation>
    </message>
    <message>
        <source>the work used other text than was given out</source>
        <translation>le travail a utilisé un autre texte que celui attribué</translation>
    </message>
    <message>
        <source>the number of tokens was not what was given out</source>
        <translation>le nombre de tokens n’était pas celui attribué</translation>
    </message>
    <message>
        <source>the number of steps was not what was given out</source>
        <translation>le nombre d’étapes n’était pas celui attribué</translation>
    </message>
    <message>
        <source>the bytes were not those that were promised</source>
        <translation>les octets n’étaient pas ceux promis</translation>
    </message>
    <message>
        <source>a scale in the contribution was not allowed</source>
        <translation>une échelle de la contribution n’était pas autorisée</translation>
    </message>
    <message>
        <source>the contribution had something where there must be nothing</source>
        <translation>la contribution contenait quelque chose là où il ne doit rien y avoir</translation>
    </message>
    <message>
        <source>a block of the contribution had too many or too few values</source>
        <translation>un bloc de la contribution avait trop ou trop peu de valeurs</translation>
    </message>
    <message>
        <source>the contribution named a place outside of the model</source>
        <translation>la contribution désignait un endroit hors du modèle</translation>
    </message>
    <message>
        <source>the places in the contribution were out of order</source>
        <translation>les endroits de la contribution n’étaient pas dans l’ordre</translation>
    </message>
    <message>
        <source>a value in the contribution was not allowed</source>
        <translation>une valeur de la contribution n’était pas autorisée</translation>
    </message>
    <message>
        <source>the contribution was empty</source>
        <translation>la contribution était vide</translation>
    </message>
    <message>
        <source>the commitment was made without the contribution</source>
        <translation>l’engagement a été pris sans la contribution</translation>
    </message>
    <message>
        <source>the contribution was far larger than the others</source>
        <translation>la contribution était bien plus grande que les autres</translation>
    </message>
    <message>
        <source>the contribution pointed away from what the witnesses measured themselves</source>
        <translation>la contribution s’écartait de ce que les témoins ont mesuré eux-mêmes</translation>
    </message>
    <message>
        <source>the contribution was nearly the same as an earlier one</source>
        <translation>la contribution était presque identique à une précédente</translation>
    </message>
    <message>
        <source>new</source>
        <translation>nouvelle</translation>
    </message>
    <message>
        <source>active</source>
        <translation>active</translation>
    </message>
    <message>
        <source>under watch, and trains on as before</source>
        <translation>sous surveillance, et continue d’entraîner comme avant</translation>
    </message>
    <message>
        <source>quarantined: it serves the swarm, and does not train until that is over</source>
        <translation>en quarantaine : elle sert l’essaim, et n’entraîne pas avant la fin de celle-ci</translation>
    </message>
    <message>
        <source>on probation, and trains again</source>
        <translation>mise à l’épreuve, et entraîne à nouveau</translation>
    </message>
    <message>
        <source>banned, and in no roster any more</source>
        <translation>bannie, et ne figure plus dans aucune liste de participants</translation>
    </message>
    <message>
        <source>revoked: it can do nothing more</source>
        <translation>révoquée : elle ne peut plus rien faire</translation>
    </message>
    <message>
        <source>replaced by another key, and can do nothing more</source>
        <translation>remplacée par une autre clé, et ne peut plus rien faire</translation>
    </message>
    <message>
        <source>enough contributions were accepted</source>
        <translation>assez de contributions ont été acceptées</translation>
    </message>
    <message>
        <source>signed two different commitments for one round</source>
        <translation>a signé deux engagements différents pour une même manche</translation>
    </message>
    <message>
        <source>signed two different statements under one number</source>
        <translation>a signé deux déclarations différentes sous un même numéro</translation>
    </message>
    <message>
        <source>signed a contribution header that breaks a rule</source>
        <translation>a signé un en-tête de contribution qui enfreint une règle</translation>
    </message>
    <message>
        <source>committed to bytes that break a rule</source>
        <translation>s’est engagée sur des octets qui enfreignent une règle</translation>
    </message>
    <message>
        <source>signed a witness proof without having been elected</source>
        <translation>a signé une preuve de témoin sans avoir été élue</translation>
    </message>
    <message>
        <source>signed an invalid witness proof</source>
        <translation>a signé une preuve de témoin non valide</translation>
    </message>
    <message>
        <source>vouched for a contribution without having its bytes</source>
        <translation>s’est porté garant d’une contribution sans en avoir les octets</translation>
    </message>
    <message>
        <source>a contribution was far from the others, according to two witnesses</source>
        <translation>une contribution était loin des autres, selon deux témoins</translation>
    </message>
    <message>
        <source>witness proofs were contradicted by the other witnesses</source>
        <translation>des preuves de témoin ont été contredites par les autres témoins</translation>
    </message>
    <message>
        <source>the term of a quarantine is over</source>
        <translation>la durée d’une quarantaine est écoulée</translation>
    </message>
    <message>
        <source>no organiser answered an appeal in time</source>
        <translation>aucun organisateur n’a répondu à temps à un recours</translation>
    </message>
    <message>
        <source>accused somebody of a fault that the evidence does not show</source>
        <translation>a accusé quelqu’un d’une faute que la preuve ne montre pas</translation>
    </message>
    <message>
        <source>a contribution was not the training that it claimed, as its auditors agree</source>
        <translation>une contribution n’était pas l’entraînement qu’elle prétendait être, ses auditeurs en conviennent</translation>
    </message>
    <message>
        <source>an audit was contradicted by the other auditors</source>
        <translation>un audit a été contredit par les autres auditeurs</translation>
    </message>
    <message>
        <source>further audits were contradicted by the other auditors</source>
        <translation>d’autres audits ont été contredits par les autres auditeurs</translation>
    </message>
    <message>
        <source>was there, and did not open contributions to their auditors</source>
        <translation>était là, et n’a pas ouvert des contributions à leurs auditeurs</translation>
    </message>
    <message>
        <source>contributions did not help more on their own windows than on others, according to the witnesses of many rounds</source>
        <translation>des contributions n’aidaient pas plus sur leurs propres fenêtres que sur d’autres, selon les témoins de nombreuses manches</translation>
    </message>
    <message>
        <source>it was not in the run in that round</source>
        <translation>il ne participait pas à l’entraînement lors de cette manche</translation>
    </message>
    <message>
        <source>it has not read an earlier audit of that work</source>
        <translation>il n’a pas lu un audit antérieur de ce travail</translation>
    </message>
    <message>
        <source>it no longer has the model of that round, or its copy is damaged</source>
        <translation>il n’a plus le modèle de cette manche, ou sa copie est endommagée</translation>
    </message>
    <message>
        <source>the data did not arrive in time</source>
        <translation>les données ne sont pas arrivées à temps</translation>
    </message>
    <message>
        <source>the training program could not repeat it</source>
        <translation>le programme d’entraînement n’a pas pu le refaire</translation>
    </message>
    <message>
        <source>the disk could not be written</source>
        <translation>le disque n’a pas pu être écrit</translation>
    </message>
    <message>
        <source>Auditing</source>
        <translation>Audit en cours</translation>
    </message>
    <message>
        <source>Repeating another volunteer's work of round {round}. You are paid as for training.</source>
        <translation>Refait le travail d’un autre volontaire, de la manche {round}. Vous êtes payé comme pour l’entraînement.</translation>
    </message>
</context>
</TS>
