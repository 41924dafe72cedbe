<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="es">
<context>
    <name>ActivityPage</name>
    <message>
        <source>View</source>
        <translation>Vista</translation>
    </message>
    <message>
        <source>Timeline</source>
        <translation>Cronología</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>Bitácora</translation>
    </message>
    <message>
        <source>Health</source>
        <translation>Salud</translation>
    </message>
    <message>
        <source>What happened here, newest first. It is kept on this computer only.</source>
        <translation>Lo que pasó aquí, de lo más nuevo a lo más antiguo. Solo se guarda en este equipo.</translation>
    </message>
    <message>
        <source>Activity</source>
        <translation>Actividad</translation>
    </message>
</context>
<context>
    <name>AnyRow</name>
    <message>
        <source>Chosen</source>
        <translation>Elegido</translation>
    </message>
    <message>
        <source>Choose for me</source>
        <translation>Elige por mí</translation>
    </message>
    <message>
        <source>A run that fits, with places free</source>
        <translation>Uno apto y con lugares libres</translation>
    </message>
</context>
<context>
    <name>AppCompetitionsPage</name>
    <message>
        <source>Runs compete on unseen text.</source>
        <translation>Los entrenamientos compiten con textos nunca vistos.</translation>
    </message>
    <message>
        <source>Competitions</source>
        <translation>Competiciones</translation>
    </message>
    <message>
        <source>Join this run</source>
        <translation>Entrar en este</translation>
    </message>
    <message>
        <source>Stay on this run</source>
        <translation>Seguir en este</translation>
    </message>
    <message>
        <source>Runs compete on unseen text. Updated {ago}.</source>
        <translation>Los entrenamientos compiten con textos nunca vistos. Lista leída {ago}.</translation>
    </message>
    <message>
        <source>{problem}. Tequio will keep trying.</source>
        <translation>{problem}. Tequio seguirá intentándolo.</translation>
    </message>
    <message>
        <source>Couldn't load the list</source>
        <translation>No se pudo cargar la lista</translation>
    </message>
    <message>
        <source>No competition yet</source>
        <translation>Aún no hay ninguna competición</translation>
    </message>
    <message>
        <source>Organisers open one so that runs can be compared. It'll appear here, and you'll be notified.</source>
        <translation>Los organizadores abren una para comparar entrenamientos. Aparecerá aquí, y recibirás un aviso.</translation>
    </message>
    <message>
        <source>Looking for competitions</source>
        <translation>Buscando competiciones</translation>
    </message>
    <message>
        <source>Asking the network which competitions there are.</source>
        <translation>Se pregunta al registro qué competiciones hay.</translation>
    </message>
</context>
<context>
    <name>AppModel</name>
    <message>
        <source>The network does not answer</source>
        <translation>La red no responde</translation>
    </message>
    <message>
        <source>The network does not answer. It may still accept the request later</source>
        <translation>La red no responde. Aún puede aceptar la solicitud más tarde</translation>
    </message>
</context>
<context>
    <name>AppealControl</name>
    <message>
        <source>Appeal…</source>
        <translation>Apelar…</translation>
    </message>
    <message>
        <source>Your appeal is in log entry {entry} and waits for the organisers.</source>
        <translation>Tu apelación está en la entrada {entry} de la bitácora y espera a los organizadores.</translation>
    </message>
    <message>
        <source>Restricted by log entry {entry}: {why}.</source>
        <translation>Restringida por la entrada {entry} de la bitácora: {why}.</translation>
    </message>
</context>
<context>
    <name>AppealDialog</name>
    <message>
        <source>Appeal</source>
        <translation>Apelación</translation>
    </message>
    <message>
        <source>An organiser reviews what your key is accused of. You can appeal once a day. If nobody answers within 14 days, a quarantine turns into probation.</source>
        <translation>Un organizador revisa de qué se acusa a tu clave. Puedes apelar una vez al día. Si nadie responde en 14 días, la cuarentena pasa a ser un periodo de prueba.</translation>
    </message>
    <message>
        <source>Send the appeal</source>
        <translation>Enviar la apelación</translation>
    </message>
    <message>
        <source>What happened (optional)</source>
        <translation>Qué pasó (opcional)</translation>
    </message>
    <message>
        <source>The text is public and permanent: no names, addresses or passwords.</source>
        <translation>El texto es público y permanente: no pongas nombres, direcciones ni contraseñas.</translation>
    </message>
    <message>
        <source>The text has {length} bytes, at most {most} are allowed: shorten it.</source>
        <translation>El texto tiene {length} bytes y se permiten {most} como máximo: acórtalo.</translation>
    </message>
</context>
<context>
    <name>AuditNotice</name>
    <message>
        <source>Another volunteer repeated your work of round {round}, and the results differ slightly more than usual. Your work counts, and you lose nothing. Unusual hardware, overclocking or an old driver can cause this; measuring the device shows whether it works as fast as before.</source>
        <translation>Otra persona voluntaria repitió tu trabajo de la ronda {round} y los resultados difieren un poco más de lo habitual. Tu trabajo cuenta y no pierdes nada. Puede deberse a un equipo poco común, al overclocking o a un controlador antiguo; medir el dispositivo muestra si sigue siendo igual de rápido.</translation>
    </message>
    <message>
        <source>Pause to measure</source>
        <translation>Pausar para medir</translation>
    </message>
    <message>
        <source>Measure again</source>
        <translation>Medir otra vez</translation>
    </message>
</context>
<context>
    <name>BackupDialog</name>
    <message>
        <source>Back up your key</source>
        <translation>Respalda tu clave</translation>
    </message>
    <message>
        <source>Anyone with this key has your points. If this disk fails, only a backup helps.</source>
        <translation>Cualquiera con esta clave tiene tus puntos. Si falla este disco, solo ayuda una copia de seguridad.</translation>
    </message>
    <message>
        <source>Kind of backup</source>
        <translation>Tipo de copia</translation>
    </message>
    <message>
        <source>24 words</source>
        <translation>24 palabras</translation>
    </message>
    <message>
        <source>A file</source>
        <translation>Un archivo</translation>
    </message>
    <message>
        <source>The file is sealed under a passphrase. Keep the two in different places, away from this computer.</source>
        <translation>El archivo se sella con una contraseña. Guárdalos por separado y lejos de este equipo.</translation>
    </message>
    <message>
        <source>Save the file…</source>
        <translation>Guardar el archivo…</translation>
    </message>
    <message>
        <source>Show the words</source>
        <translation>Mostrar las palabras</translation>
    </message>
    <message>
        <source>I have written them down</source>
        <translation>Ya las anoté</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>Listo</translation>
    </message>
    <message>
        <source>Save the backup</source>
        <translation>Guardar la copia</translation>
    </message>
</context>
<context>
    <name>BackupSource</name>
    <message>
        <source>Kind of backup</source>
        <translation>Tipo de copia</translation>
    </message>
    <message>
        <source>24 words</source>
        <translation>24 palabras</translation>
    </message>
    <message>
        <source>A file</source>
        <translation>Un archivo</translation>
    </message>
    <message>
        <source>The 24 words, in their order</source>
        <translation>Las 24 palabras, en su orden</translation>
    </message>
    <message>
        <source>Choose the file…</source>
        <translation>Elegir el archivo…</translation>
    </message>
    <message>
        <source>Choose the backup</source>
        <translation>Elige la copia de seguridad</translation>
    </message>
</context>
<context>
    <name>BackupWordsPane</name>
    <message>
        <source>Word {number}</source>
        <translation>Palabra {number}</translation>
    </message>
    <message>
        <source>To check what you wrote, type two of the words.</source>
        <translation>Para asegurar que el papel está bien, escribe dos de sus palabras.</translation>
    </message>
    <message>
        <source>Word {number} does not match. Look at the paper again.</source>
        <translation>La palabra {number} es otra. Vuelve a mirar el papel.</translation>
    </message>
    <message>
        <source>Write them on paper in this order: no photo, no cloud. Nobody from Tequio will ever ask for them.</source>
        <translation>Escríbelas en papel en este orden: sin foto, sin nube. Nadie de Tequio te las pedirá jamás.</translation>
    </message>
</context>
<context>
    <name>BadgesCard</name>
    <message>
        <source>Badges</source>
        <translation>Insignias</translation>
    </message>
    <message>
        <source>Each badge opens the entry of the public log that proves it.</source>
        <translation>Cada insignia abre la entrada de la bitácora pública que la prueba.</translation>
    </message>
    <message numerus="yes">
        <source>Current streak: %n day(s) in a row with accepted work.</source>
        <translation>
            <numerusform>Racha actual: %n día con trabajo aceptado.</numerusform>
            <numerusform>Racha actual: %n días seguidos con trabajo aceptado.</numerusform>
        </translation>
    </message>
    <message>
        <source>No accepted work today (UTC) yet.</source>
        <translation>Falta el día de hoy (UTC).</translation>
    </message>
    <message>
        <source>No streak: no work was accepted lately.</source>
        <translation>Sin racha: últimamente no se aceptó trabajo.</translation>
    </message>
    <message>
        <source>Next badge: {badge}, {reached} of {needed}</source>
        <translation>Próxima insignia: {badge}, {reached} de {needed}</translation>
    </message>
    <message>
        <source>First round</source>
        <translation>Primera ronda</translation>
    </message>
    <message>
        <source>A round accepted work of this key for the first time.</source>
        <translation>Una ronda aceptó trabajo de esta clave por primera vez.</translation>
    </message>
    <message>
        <source>{n} rounds</source>
        <translation>{n} rondas</translation>
    </message>
    <message>
        <source>{n} rounds accepted work of this key.</source>
        <translation>{n} rondas aceptaron trabajo de esta clave.</translation>
    </message>
    <message>
        <source>{n} days in a row</source>
        <translation>{n} días seguidos</translation>
    </message>
    <message>
        <source>Work was accepted on {n} days in a row.</source>
        <translation>Se aceptó trabajo en {n} días seguidos.</translation>
    </message>
    <message>
        <source>1 EFLOP</source>
        <translation>1 EFLOP</translation>
    </message>
    <message>
        <source>This key did 10^18 calculations, which are 100,000 points.</source>
        <translation>Esta clave hizo 10^18 cálculos, que son 100.000 puntos.</translation>
    </message>
    <message>
        <source>First audit</source>
        <translation>Primera auditoría</translation>
    </message>
    <message>
        <source>This key repeated another volunteer's work to check it.</source>
        <translation>Esta clave repitió el trabajo de otro voluntario para comprobarlo.</translation>
    </message>
    <message>
        <source>Measured a model</source>
        <translation>Midió un modelo</translation>
    </message>
    <message>
        <source>This key measured how good a model is, on text that nobody trains on.</source>
        <translation>Esta clave midió lo bueno que es un modelo, con textos con los que nadie entrena.</translation>
    </message>
    <message>
        <source>Judged a competition</source>
        <translation>Juzgó una competición</translation>
    </message>
    <message>
        <source>This key scored a model in a competition.</source>
        <translation>Esta clave puntuó un modelo en una competición.</translation>
    </message>
</context>
<context>
    <name>BenchmarkRow</name>
    <message>
        <source>Benchmark</source>
        <translation>Prueba de velocidad</translation>
    </message>
    <message>
        <source>Measure</source>
        <translation>Medir</translation>
    </message>
    <message>
        <source>Measure again</source>
        <translation>Medir otra vez</translation>
    </message>
    <message>
        <source>Measuring</source>
        <translation>Midiendo</translation>
    </message>
    <message>
        <source>Trains a small model for a few seconds.</source>
        <translation>Entrena un modelo pequeño durante unos segundos.</translation>
    </message>
    <message>
        <source>Not measured: {why}.</source>
        <translation>Sin medir: {why}.</translation>
    </message>
    <message>
        <source>Trains a small model for a few seconds and says how fast this device is.</source>
        <translation>Entrena un modelo pequeño durante unos segundos y dice qué tan rápido es este dispositivo.</translation>
    </message>
    <message>
        <source>Switch the device off first to get a meaningful result.</source>
        <translation>Apaga primero el dispositivo para obtener un resultado fiable.</translation>
    </message>
    <message>
        <source>{tokens} tokens per second</source>
        <translation>{tokens} tokens por segundo</translation>
    </message>
    <message>
        <source>{memory} of memory</source>
        <translation>{memory} de memoria</translation>
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
        <translation>La red no tiene una imagen de esta página ({problem}). Copia el enlace en su lugar.</translation>
    </message>
    <message>
        <source>The picture could not be fetched ({problem}). Check your connection, and try again.</source>
        <translation>No se pudo obtener la imagen ({problem}). Comprueba tu conexión y prueba otra vez.</translation>
    </message>
    <message>
        <source>{file} was not written: {why}. Choose another place, or try again.</source>
        <translation>No se escribió {file}: {why}. Elige otro lugar o prueba otra vez.</translation>
    </message>
</context>
<context>
    <name>ChatCard</name>
    <message>
        <source>Try the model</source>
        <translation>Probar el modelo</translation>
    </message>
    <message>
        <source>What you and the model wrote</source>
        <translation>Lo que escribieron el modelo y tú</translation>
    </message>
    <message>
        <source>The newest model answers here if it was trained on conversations, and otherwise continues what you write. Early in a run that is gibberish; it improves round by round. Its words are generated; they are not anyone's opinion.</source>
        <translation>Aquí responde el modelo más reciente si se entrenó con conversaciones; si no, continúa lo que escribes. Al principio de un entrenamiento es un galimatías; mejora ronda a ronda. Sus palabras son generadas; no son la opinión de nadie.</translation>
    </message>
    <message>
        <source>Preparing the model</source>
        <translation>Preparando el modelo</translation>
    </message>
    <message>
        <source>Your text</source>
        <translation>Tu texto</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>Enviar</translation>
    </message>
    <message>
        <source>New conversation</source>
        <translation>Conversación nueva</translation>
    </message>
    <message>
        <source>The model needs what training needs, which is not installed yet.</source>
        <translation>El modelo necesita lo mismo que el entrenamiento, y eso aún no está instalado.</translation>
    </message>
    <message>
        <source>{program} has priority now. The model can answer once it is closed.</source>
        <translation>{program} tiene prioridad ahora. El modelo podrá responder cuando se cierre.</translation>
    </message>
    <message>
        <source>The newest model is not on this computer yet. It comes with the next round that you take part in, or you download it now.</source>
        <translation>El modelo más reciente aún no está en este equipo. Llega con la próxima ronda en la que participes, o puedes descargarlo ahora.</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>Descargar</translation>
    </message>
    <message>
        <source>There is not enough memory: the model needs about {needed}, and {free} are free. Close other programs, then try again.</source>
        <translation>No hay memoria suficiente: el modelo necesita unos {needed}, y hay {free} libres. Cierra otros programas y vuelve a intentarlo.</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Reintentar</translation>
    </message>
    <message>
        <source>The model could not be started, or stopped working.</source>
        <translation>El modelo no pudo iniciarse o dejó de funcionar.</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Detener</translation>
    </message>
    <message>
        <source>Ask something, or begin a text</source>
        <translation>Pregunta algo o empieza un texto</translation>
    </message>
    <message>
        <source>Ask something</source>
        <translation>Pregunta algo</translation>
    </message>
    <message>
        <source>Begin a text</source>
        <translation>Empieza un texto</translation>
    </message>
    <message>
        <source>Downloading the newest model: {done} of {total}</source>
        <translation>Descargando el modelo más reciente: {done} de {total}</translation>
    </message>
    <message>
        <source>Preparing the newest model, checked against the public log…</source>
        <translation>Preparando el modelo más reciente, comprobado con la bitácora pública…</translation>
    </message>
    <message>
        <source>The model of round {number} runs on this computer's processor.</source>
        <translation>El modelo de la ronda {number} funciona en el procesador de este equipo.</translation>
    </message>
    <message>
        <source>The model of round {number} runs on this computer's processor, slower while it also trains.</source>
        <translation>El modelo de la ronda {number} funciona en el procesador de este equipo, más despacio mientras también entrena.</translation>
    </message>
    <message>
        <source>The model is closed. Your next question starts it again; it will not remember this conversation.</source>
        <translation>El modelo está cerrado. Tu próxima pregunta lo inicia otra vez; no recordará esta conversación.</translation>
    </message>
    <message>
        <source>It runs on this computer's processor; nothing is sent anywhere.</source>
        <translation>Funciona en el procesador de este equipo; no se envía nada a ninguna parte.</translation>
    </message>
</context>
<context>
    <name>CheckRow</name>
    <message>
        <source>Not available on this system</source>
        <translation>No disponible en este sistema</translation>
    </message>
    <message>
        <source>OK</source>
        <translation>Bien</translation>
    </message>
    <message>
        <source>Checking…</source>
        <translation>Comprobando…</translation>
    </message>
    <message>
        <source>Unknown</source>
        <translation>Se desconoce</translation>
    </message>
</context>
<context>
    <name>CheckStep</name>
    <message>
        <source>Can this computer take part?</source>
        <translation>¿Puede participar este equipo?</translation>
    </message>
    <message>
        <source>Takes five seconds at most. Checks this computer and asks the network which runs are open.</source>
        <translation>Tarda cinco segundos como mucho. Comprueba este equipo y pregunta a la red qué entrenamientos están abiertos.</translation>
    </message>
    <message>
        <source>Check again</source>
        <translation>Comprobar otra vez</translation>
    </message>
</context>
<context>
    <name>ChildTransport</name>
    <message>
        <source>The worker was ended from outside ({code}).</source>
        <translation>El programa de trabajo fue terminado desde fuera ({code}).</translation>
    </message>
    <message>
        <source>The worker has ended ({code}).</source>
        <translation>El programa de trabajo terminó ({code}).</translation>
    </message>
</context>
<context>
    <name>CodeConsentDialog</name>
    <message>
        <source>Allow the code of {run}?</source>
        <translation>¿Permitir el código de {run}?</translation>
    </message>
    <message>
        <source>This run brings code that is not part of Tequio. It was written or chosen by the run's organisers ({keys}).</source>
        <translation>Este entrenamiento trae código que no forma parte de Tequio. Lo escribieron o eligieron los organizadores del entrenamiento ({keys}).</translation>
    </message>
    <message>
        <source>Allow this code</source>
        <translation>Permitir este código</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>Ahora no</translation>
    </message>
    <message>
        <source>I trust the author of this code</source>
        <translation>Confío en el autor de este código</translation>
    </message>
    <message>
        <source>{name} {version}, {size}, archive {archive}</source>
        <translation>{name} {version}, {size}, archivo {archive}</translation>
    </message>
    <message>
        <source>It runs in the trainer: it computes on your device, and reads what belongs to the run.</source>
        <translation>Se ejecuta en el entrenador: calcula en tu dispositivo y lee lo que pertenece al entrenamiento.</translation>
    </message>
    <message>
        <source>It makes what your key signs in this run. Bad code can cost points, or your key's standing.</source>
        <translation>Produce lo que tu clave firma en este entrenamiento. Un código malo puede costar puntos o la reputación de tu clave.</translation>
    </message>
    <message>
        <source>Your consent is for these exact bytes. A new version asks again; you can take the consent back here at any time.</source>
        <translation>Tu consentimiento vale solo para estos bytes exactos. Una versión nueva vuelve a preguntar; puedes retirar el consentimiento aquí en cualquier momento.</translation>
    </message>
    <message>
        <source>The sandbox keeps it from your key, your home folder, the network and other programs.</source>
        <translation>El entorno aislado le impide llegar a tu clave, tu carpeta personal, la red y otros programas.</translation>
    </message>
    <message>
        <source>This computer has no sandbox for it: it could read your files and your key, and use the network.</source>
        <translation>Este equipo no tiene un entorno aislado para él: podría leer tus archivos y tu clave, y usar la red.</translation>
    </message>
</context>
<context>
    <name>CommandsCard</name>
    <message>
        <source>In other programs</source>
        <translation>En otros programas</translation>
    </message>
    <message>
        <source>Export the model</source>
        <translation>Exportar el modelo</translation>
    </message>
    <message>
        <source>In a terminal, the first command exports the newest model as a GGUF file, which works for Llama, Mistral and Qwen models. The second line runs it in llama.cpp, the third in Ollama.</source>
        <translation>En una terminal, la primera orden exporta el modelo más reciente como archivo GGUF; funciona con modelos Llama, Mistral y Qwen. La segunda línea lo ejecuta en llama.cpp, la tercera en Ollama.</translation>
    </message>
</context>
<context>
    <name>CompetitionChoice</name>
    <message>
        <source>Way to the result</source>
        <translation>Camino hasta el resultado</translation>
    </message>
    <message numerus="yes">
        <source>%n entrant(s)</source>
        <translation>
            <numerusform>%n participante</numerusform>
            <numerusform>%n participantes</numerusform>
        </translation>
    </message>
    <message>
        <source>{time} {goal}</source>
        <translation>{time} {goal}</translation>
    </message>
    <message>
        <source>First place: {names}</source>
        <translation>Primer puesto: {names}</translation>
    </message>
</context>
<context>
    <name>CompetitionFigures</name>
    <message>
        <source>Your points</source>
        <translation>Tus puntos</translation>
    </message>
    <message>
        <source>Entrants</source>
        <translation>Participantes</translation>
    </message>
    <message>
        <source>Texts</source>
        <translation>Textos</translation>
    </message>
    <message>
        <source>Evaluators</source>
        <translation>Evaluadores</translation>
    </message>
    <message>
        <source>{points} points in the runs of its entrants</source>
        <translation>{points} puntos en los entrenamientos de sus participantes</translation>
    </message>
    <message>
        <source>{drawn} of {texts}</source>
        <translation>{drawn} de {texts}</translation>
    </message>
</context>
<context>
    <name>CompetitionNotifier</name>
    <message numerus="yes">
        <source>This computer scores %n model(s) when it may lend.</source>
        <translation>
            <numerusform>Este equipo puntúa %n modelo cuando pueda prestar.</numerusform>
            <numerusform>Este equipo puntúa %n modelos cuando pueda prestar.</numerusform>
        </translation>
    </message>
    <message>
        <source>You were drawn to judge {name}</source>
        <translation>Te ha tocado evaluar {name}</translation>
    </message>
    <message>
        <source>You have judged {name}</source>
        <translation>Has evaluado {name}</translation>
    </message>
    <message>
        <source>All your scores are in the log. See how the entrants are doing.</source>
        <translation>Todas tus puntuaciones están en la bitácora. Mira cómo van los participantes.</translation>
    </message>
    <message>
        <source>{sides} compete until {time}. See the rules, and join one of them.</source>
        <translation>{sides} compiten; cierre: {time}. Mira las reglas y únete a uno.</translation>
    </message>
    <message>
        <source>{name} has begun</source>
        <translation>{name} ha empezado</translation>
    </message>
    <message>
        <source>{name}: {time} until the deadline</source>
        <translation>{name}: {time} hasta el cierre</translation>
    </message>
    <message>
        <source>Nothing submitted after it counts. See how the entrants are doing.</source>
        <translation>Después ya no cuenta nada. Mira cómo van los participantes.</translation>
    </message>
    <message>
        <source>{name} is decided</source>
        <translation>{name} está decidida</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>Entrenamientos</translation>
    </message>
    <message numerus="yes">
        <source>{name} and %n other(s)</source>
        <translation>
            <numerusform>{name} y %n más</numerusform>
            <numerusform>{name} y %n más</numerusform>
        </translation>
    </message>
    <message>
        <source>{names} and {last}</source>
        <translation>{names} y {last}</translation>
    </message>
    <message>
        <source>It ended without a ranking. See the reason and the scores.</source>
        <translation>No hay clasificación. Mira por qué, y cuáles fueron las puntuaciones.</translation>
    </message>
    <message>
        <source>First: {names}, with {score} bits per byte of text (perplexity {perplexity} per byte).</source>
        <translation>Primer puesto: {names}, con {score} bits por byte de texto (perplejidad {perplexity} por byte).</translation>
    </message>
</context>
<context>
    <name>CompetitionSummaryCard</name>
    <message>
        <source>Open the ledger's page</source>
        <translation>Abrir la página del registro</translation>
    </message>
</context>
<context>
    <name>ConnectControl</name>
    <message>
        <source>Link…</source>
        <translation>Vincular…</translation>
    </message>
    <message>
        <source>Linked</source>
        <translation>Vinculada</translation>
    </message>
    <message>
        <source>Invited</source>
        <translation>Invitada</translation>
    </message>
</context>
<context>
    <name>ConnectDialog</name>
    <message>
        <source>Link an account</source>
        <translation>Vincular una cuenta</translation>
    </message>
    <message>
        <source>Some runs ask for it. The public log then shows that a person is behind your key, and which keys are theirs, but not who it is.</source>
        <translation>Algunos entrenamientos lo piden. La bitácora pública muestra entonces que hay una persona detrás de tu clave y qué claves son suyas, pero no quién es.</translation>
    </message>
    <message>
        <source>Get a code</source>
        <translation>Obtener un código</translation>
    </message>
    <message>
        <source>Address of the connector</source>
        <translation>Dirección del conector</translation>
    </message>
    <message>
        <source>Provider, if it has several</source>
        <translation>Proveedor, si tiene varios</translation>
    </message>
    <message>
        <source>The organisers of the network name connectors that they trust.</source>
        <translation>Los organizadores de la red nombran los conectores en los que confían.</translation>
    </message>
    <message>
        <source>Code</source>
        <translation>Código</translation>
    </message>
    <message>
        <source>Open the page</source>
        <translation>Abrir la página</translation>
    </message>
    <message>
        <source>Never share this code, and never enter one that somebody else gave you.</source>
        <translation>No compartas nunca este código, ni introduzcas uno que te haya dado otra persona.</translation>
    </message>
    <message>
        <source>Enter this code</source>
        <translation>Introduce este código</translation>
    </message>
    <message>
        <source>At {url}, signed in with your account there.</source>
        <translation>En {url}, con tu sesión iniciada allí.</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Cerrar</translation>
    </message>
    <message>
        <source>The code was not used in time. Open this dialog again.</source>
        <translation>El código no se usó a tiempo. Abre de nuevo este diálogo.</translation>
    </message>
</context>
<context>
    <name>ConsentCard</name>
    <message>
        <source>{traffic} GB of traffic a month</source>
        <translation>{traffic} GB de tráfico al mes</translation>
    </message>
    <message>
        <source>I lend this computer to Tequio as chosen here: it may use the graphics card, the processor, up to {disk} GB of disk, {traffic}, and the power that takes. I am allowed to decide this for this computer.</source>
        <translation>Presto este equipo a Tequio tal como lo elegí aquí: puede usar la tarjeta gráfica, el procesador, hasta {disk} GB de disco, {traffic} y la electricidad que eso requiere. Tengo permiso para decidirlo sobre este equipo.</translation>
    </message>
    <message>
        <source>traffic without a limit</source>
        <translation>tráfico sin límite</translation>
    </message>
    <message>
        <source>I agree</source>
        <translation>De acuerdo</translation>
    </message>
    <message>
        <source>You can pause, change or stop at any time.</source>
        <translation>Puedes pausar, cambiar o dejarlo en cualquier momento.</translation>
    </message>
</context>
<context>
    <name>Conversation</name>
    <message>
        <source>The worker sent an invalid message ({problem}).</source>
        <translation>El programa de trabajo envió un mensaje no válido ({problem}).</translation>
    </message>
    <message>
        <source>The worker is still being started.</source>
        <translation>El programa de trabajo todavía está arrancando.</translation>
    </message>
    <message>
        <source>The worker has not answered in time.</source>
        <translation>El programa de trabajo no respondió a tiempo.</translation>
    </message>
    <message>
        <source>The worker has not answered in time. It may still carry out the request.</source>
        <translation>El programa de trabajo no respondió a tiempo. Aún puede llevar a cabo la solicitud.</translation>
    </message>
    <message>
        <source>The worker does not answer any more.</source>
        <translation>El programa de trabajo ya no responde.</translation>
    </message>
</context>
<context>
    <name>CopyLine</name>
    <message>
        <source>Copy</source>
        <translation>Copiar</translation>
    </message>
    <message>
        <source>Copy: {name}</source>
        <translation>Copiar: {name}</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Copiado</translation>
    </message>
</context>
<context>
    <name>CostCard</name>
    <message>
        <source>Hours per day</source>
        <translation>Horas al día</translation>
    </message>
    <message numerus="yes">
        <source>%n hour(s)</source>
        <translation>
            <numerusform>%n hora</numerusform>
            <numerusform>%n horas</numerusform>
        </translation>
    </message>
    <message>
        <source>Price per kWh</source>
        <translation>Precio por kWh</translation>
    </message>
    <message>
        <source>not entered</source>
        <translation>sin indicar</translation>
    </message>
    <message>
        <source>What it costs in power</source>
        <translation>Lo que cuesta en electricidad</translation>
    </message>
    <message>
        <source>while it trains</source>
        <translation>mientras entrena</translation>
    </message>
    <message>
        <source>{energy} kWh</source>
        <translation>{energy} kWh</translation>
    </message>
    <message>
        <source>per month</source>
        <translation>al mes</translation>
    </message>
    <message>
        <source>Checking this computer. Until then, the range covers most graphics cards.</source>
        <translation>Mirando este equipo. El rango es el de la mayoría de las tarjetas gráficas.</translation>
    </message>
    <message>
        <source>{device}: no graphics card was found. The range covers most processors.</source>
        <translation>{device}: no se encontró tarjeta gráfica. El rango es el de los procesadores.</translation>
    </message>
    <message>
        <source>{device}: from 60% of its power limit to all of it.</source>
        <translation>{device}: del 60 % de su límite de potencia hasta todo.</translation>
    </message>
    <message>
        <source>{device} does not report its limit. The range covers most cards.</source>
        <translation>{device} no dice su límite. El rango es el de la mayoría de las tarjetas.</translation>
    </message>
    <message>
        <source>For this device only. If your PC would otherwise be asleep, add 40 to 90 W.</source>
        <translation>Solo para este dispositivo. Si de otro modo tu PC estaría suspendido, suma de 40 a 90 W.</translation>
    </message>
    <message>
        <source>This is a rough household price: enter yours.</source>
        <translation>Es un precio doméstico aproximado: introduce el tuyo.</translation>
    </message>
</context>
<context>
    <name>DaysCard</name>
    <message>
        <source>Points per day</source>
        <translation>Puntos por día</translation>
    </message>
    <message>
        <source>30 days</source>
        <translation>30 días</translation>
    </message>
    <message>
        <source>A round trains for about {time} and is checked after that.</source>
        <translation>Una ronda entrena unos {time} y después se comprueba.</translation>
    </message>
    <message>
        <source>{total} points in {days} days; most on {day}: {peak}</source>
        <translation>{total} puntos en {days} días; el mejor, el {day}: {peak}</translation>
    </message>
    <message>
        <source>Your verified points for each day will appear here after your first round.</source>
        <translation>Aquí aparecerán los puntos verificados de cada día, desde tu primera ronda.</translation>
    </message>
</context>
<context>
    <name>DetailsButton</name>
    <message>
        <source>Details</source>
        <translation>Detalles</translation>
    </message>
</context>
<context>
    <name>DetailsDialog</name>
    <message>
        <source>Details</source>
        <translation>Detalles</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Copiar</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Cerrar</translation>
    </message>
</context>
<context>
    <name>DeviceCard</name>
    <message>
        <source>Lend {device}</source>
        <translation>Prestar {device}</translation>
    </message>
    <message>
        <source>Role</source>
        <translation>Papel</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>Automático</translation>
    </message>
    <message>
        <source>Trainer</source>
        <translation>Entrenador</translation>
    </message>
    <message>
        <source>Witness</source>
        <translation>Testigo</translation>
    </message>
    <message>
        <source>Trainers train the model; witnesses check their work. Automatic does both. Default: automatic.</source>
        <translation>Los entrenadores entrenan el modelo; los testigos comprueban su trabajo. Automático hace ambas cosas. Por defecto: automático.</translation>
    </message>
    <message>
        <source>While I use the computer</source>
        <translation>Mientras uso el equipo</translation>
    </message>
    <message>
        <source>Lends this card also while you use the computer or play on another one. Stops when another program uses it. Default: off.</source>
        <translation>Presta esta tarjeta también mientras usas el equipo o juegas con otra. Se detiene cuando otro programa la usa. Por defecto: no.</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>Entrenamiento</translation>
    </message>
    <message>
        <source>The run that this device trains. Two devices of one computer never train the same run. Default: automatic.</source>
        <translation>El entrenamiento en el que participa este dispositivo. Dos dispositivos de un mismo equipo nunca participan en el mismo. Por defecto: automático.</translation>
    </message>
    <message>
        <source>Processor</source>
        <translation>Procesador</translation>
    </message>
    <message>
        <source>Not known yet</source>
        <translation>Aún no se sabe</translation>
    </message>
    <message>
        <source>Not readable now</source>
        <translation>No se puede leer ahora</translation>
    </message>
    <message>
        <source>No longer open</source>
        <translation>Ya no está abierto</translation>
    </message>
    <message numerus="yes">
        <source>%n core(s)</source>
        <translation>
            <numerusform>%n núcleo</numerusform>
            <numerusform>%n núcleos</numerusform>
        </translation>
    </message>
    <message>
        <source>{memory} of memory</source>
        <translation>{memory} de memoria</translation>
    </message>
    <message>
        <source>driver {version}</source>
        <translation>controlador {version}</translation>
    </message>
    <message>
        <source>{run}: round {round} of {rounds}</source>
        <translation>{run}: ronda {round} de {rounds}</translation>
    </message>
    <message>
        <source>Computing</source>
        <translation>Calculando</translation>
    </message>
    <message>
        <source>Computing, {share} of the time</source>
        <translation>Calculando, {share} del tiempo</translation>
    </message>
    <message>
        <source>Between rounds</source>
        <translation>Entre rondas</translation>
    </message>
    <message>
        <source>Starting</source>
        <translation>Iniciando</translation>
    </message>
    <message>
        <source>Stopping</source>
        <translation>Deteniendo</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>Falló</translation>
    </message>
    <message>
        <source>Ready</source>
        <translation>Listo</translation>
    </message>
    <message>
        <source>Not lent</source>
        <translation>No se presta</translation>
    </message>
    <message>
        <source>Stops lending now</source>
        <translation>Detiene ahora el préstamo</translation>
    </message>
</context>
<context>
    <name>DeviceLimits</name>
    <message>
        <source>Share of the time</source>
        <translation>Parte del tiempo</translation>
    </message>
    <message>
        <source>How much of the time this device works.</source>
        <translation>Qué parte del tiempo trabaja este dispositivo.</translation>
    </message>
    <message>
        <source>Usual</source>
        <translation>Lo habitual</translation>
    </message>
    <message>
        <source>{memory}, automatic</source>
        <translation>{memory}, automático</translation>
    </message>
    <message>
        <source>No goal</source>
        <translation>Sin meta</translation>
    </message>
    <message>
        <source>{threads}, automatic</source>
        <translation>{threads}, automático</translation>
    </message>
    <message>
        <source>Left to the desktop: 2 GB at least, unless you choose more here.</source>
        <translation>Quedan para el escritorio 2 GB como mínimo, salvo que elijas más aquí.</translation>
    </message>
    <message>
        <source>{free} This card has {total}.</source>
        <translation>{free} Esta tarjeta tiene {total}.</translation>
    </message>
    <message>
        <source>VRAM</source>
        <translation>VRAM</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>Automático</translation>
    </message>
    <message>
        <source>Power goal</source>
        <translation>Meta de potencia</translation>
    </message>
    <message>
        <source>Kept by resting between steps; the card's own limit is {most}.</source>
        <translation>Se cumple descansando entre pasos; el límite de la tarjeta es {most}.</translation>
    </message>
    <message>
        <source>Slows down to stay below this; stops at 5 °C above it.</source>
        <translation>Va más despacio para no pasar de aquí; se detiene 5 °C por encima.</translation>
    </message>
    <message>
        <source>Temperature goal</source>
        <translation>Meta de temperatura</translation>
    </message>
    <message>
        <source>Of {cores} cores; one stays free unless you choose otherwise.</source>
        <translation>De {cores} núcleos; uno queda libre salvo que elijas otra cosa.</translation>
    </message>
    <message>
        <source>Threads</source>
        <translation>Hilos</translation>
    </message>
</context>
<context>
    <name>EntryPane</name>
    <message>
        <source>How</source>
        <translation>Cómo</translation>
    </message>
    <message>
        <source>Join with a link</source>
        <translation>Entrar con un enlace</translation>
    </message>
    <message>
        <source>Found a team</source>
        <translation>Fundar un equipo</translation>
    </message>
    <message>
        <source>Join link or code of a team</source>
        <translation>Enlace o código de un equipo</translation>
    </message>
    <message>
        <source>Name of the new team</source>
        <translation>Nombre del nuevo equipo</translation>
    </message>
    <message>
        <source>2 to 32 letters of one script and digits. The name is public and stays. You can found one team every 30 days.</source>
        <translation>De 2 a 32 letras de un solo alfabeto y cifras. El nombre es público y no cambia. Puedes fundar un equipo cada 30 días.</translation>
    </message>
    <message>
        <source>Ask the owner of the team for its link or code.</source>
        <translation>Pide el enlace o el código a quien dirige el equipo.</translation>
    </message>
</context>
<context>
    <name>ErrorReportDialog</name>
    <message>
        <source>Tequio – a fault</source>
        <translation>Tequio – una falla</translation>
    </message>
    <message>
        <source>Report</source>
        <translation>Informe</translation>
    </message>
    <message>
        <source>Copy report</source>
        <translation>Copiar informe</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>Seguir</translation>
    </message>
    <message numerus="yes">
        <source>%n more fault(s) since</source>
        <translation>
            <numerusform>%n falla más desde entonces</numerusform>
            <numerusform>%n fallas más desde entonces</numerusform>
        </translation>
    </message>
    <message>
        <source>Something went wrong in Tequio's window</source>
        <translation>Algo salió mal en la ventana de Tequio</translation>
    </message>
    <message>
        <source>Lending is not affected: it runs in a program of its own. Nothing was sent to anybody. If you want to report this, copy the text below; keys and names of your folders were taken out of it.</source>
        <translation>El préstamo no se ve afectado: va en un programa aparte. No se envió nada a nadie. Si quieres informar de esto, copia el texto de abajo; ya no contiene claves ni nombres de tus carpetas.</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Copiado</translation>
    </message>
</context>
<context>
    <name>EventsRows</name>
    <message>
        <source>Good: {words}</source>
        <translation>Bueno: {words}</translation>
    </message>
    <message>
        <source>Attention: {words}</source>
        <translation>Atención: {words}</translation>
    </message>
    <message>
        <source>Problem: {words}</source>
        <translation>Problema: {words}</translation>
    </message>
</context>
<context>
    <name>ExclusiveList</name>
    <message>
        <source>Add a program</source>
        <translation>Agregar un programa</translation>
    </message>
    <message>
        <source>No programs yet.</source>
        <translation>Todavía no hay programas.</translation>
    </message>
    <message>
        <source>{program} was removed from the list.</source>
        <translation>{program} se ha quitado de la lista.</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Quitar</translation>
    </message>
    <message>
        <source>Remove {program}</source>
        <translation>Quitar {program}</translation>
    </message>
</context>
<context>
    <name>FirstRun</name>
    <message>
        <source>Back</source>
        <translation>Atrás</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>Ahora no</translation>
    </message>
    <message>
        <source>Step {number} of {steps}</source>
        <translation>Paso {number} de {steps}</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>Siguiente</translation>
    </message>
    <message>
        <source>You are invited to “{network}”. Step 3 makes your key; then you can join.</source>
        <translation>Te invitan a «{network}». En el paso 3 se crea tu clave; después puedes unirte.</translation>
    </message>
    <message>
        <source>You are invited to “{network}”.</source>
        <translation>Te invitan a «{network}».</translation>
    </message>
    <message>
        <source>Join</source>
        <translation>Unirse</translation>
    </message>
</context>
<context>
    <name>FolderLine</name>
    <message>
        <source>Folder</source>
        <translation>Carpeta</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Abrir</translation>
    </message>
    <message>
        <source>Open the folder</source>
        <translation>Abrir la carpeta</translation>
    </message>
</context>
<context>
    <name>HardwarePage</name>
    <message>
        <source>Choose what Tequio may use. Each device that is lent trains a run of its own. Changes apply immediately.</source>
        <translation>Elige qué puede usar Tequio. Cada dispositivo prestado participa en un entrenamiento propio. Los cambios se aplican de inmediato.</translation>
    </message>
    <message>
        <source>Hardware</source>
        <translation>Hardware</translation>
    </message>
    <message>
        <source>The worker is being started; its devices will appear here.</source>
        <translation>El programa de trabajo está arrancando; después verás aquí sus dispositivos.</translation>
    </message>
    <message>
        <source>The hardware is being checked; its devices will appear here.</source>
        <translation>Se está comprobando el hardware; después verás aquí sus dispositivos.</translation>
    </message>
    <message>
        <source>The hardware probe is not responding, so the state of the graphics cards is unknown. Nothing is lent until it responds; Tequio restarts it automatically.</source>
        <translation>La sonda de hardware no responde, así que no se conoce el estado de las tarjetas gráficas. No se presta nada hasta que responda; Tequio la reinicia automáticamente.</translation>
    </message>
    <message>
        <source>No graphics card was found that can train. The CPU is lent instead. It's slower, but still earns points.</source>
        <translation>No se encontró ninguna tarjeta gráfica que pueda entrenar. Se presta la CPU en su lugar. Es más lenta, pero también da puntos.</translation>
    </message>
    <message>
        <source>No graphics card was found that can train. The CPU can be lent instead.</source>
        <translation>No se encontró ninguna tarjeta gráfica que pueda entrenar. Se puede prestar la CPU en su lugar.</translation>
    </message>
    <message>
        <source>Lend the processor</source>
        <translation>Prestar el procesador</translation>
    </message>
    <message>
        <source>{device} is no longer lent.</source>
        <translation>{device} ya no se presta.</translation>
    </message>
</context>
<context>
    <name>HealthView</name>
    <message>
        <source>Your session</source>
        <translation>Tu sesión</translation>
    </message>
    <message>
        <source>Nothing is known about your session yet.</source>
        <translation>Aún no se sabe nada de tu sesión.</translation>
    </message>
    <message>
        <source>The hardware is being checked…</source>
        <translation>Comprobando el hardware…</translation>
    </message>
    <message>
        <source>The hardware probe is not responding. The worker restarts it automatically.</source>
        <translation>La sonda de hardware no responde. El programa de trabajo la reinicia automáticamente.</translation>
    </message>
    <message>
        <source>This computer</source>
        <translation>Este equipo</translation>
    </message>
    <message numerus="yes">
        <source>All %n check(s) are working.</source>
        <translation>
            <numerusform>%n comprobación funciona.</numerusform>
            <numerusform>Las %n comprobaciones funcionan.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n check(s) aren't working.</source>
        <translation>
            <numerusform>%n comprobación no funciona.</numerusform>
            <numerusform>%n comprobaciones no funcionan.</numerusform>
        </translation>
    </message>
    <message>
        <source>If Tequio isn't sure, it stays paused.</source>
        <translation>Si Tequio no está seguro, sigue en pausa.</translation>
    </message>
    <message>
        <source>Some checks have not responded yet.</source>
        <translation>Algunas comprobaciones aún no han respondido.</translation>
    </message>
</context>
<context>
    <name>HelpDialog</name>
    <message>
        <source>Keyboard and help</source>
        <translation>Teclado y ayuda</translation>
    </message>
    <message>
        <source>Read this page again</source>
        <translation>Volver a leer esta página</translation>
    </message>
    <message>
        <source>Go to the next control, and use it</source>
        <translation>Ir al control siguiente y usarlo</translation>
    </message>
    <message>
        <source>Search the settings</source>
        <translation>Buscar en los ajustes</translation>
    </message>
    <message>
        <source>Close the window; Tequio goes on in the tray</source>
        <translation>Cerrar la ventana; Tequio sigue en la bandeja</translation>
    </message>
    <message>
        <source>Quit, and stop lending</source>
        <translation>Salir y dejar de prestar</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Cerrar</translation>
    </message>
    <message>
        <source>Every command explains itself: tequio --help. Version {version}.</source>
        <translation>Cada orden se explica a sí misma: tequio --help. Versión {version}.</translation>
    </message>
</context>
<context>
    <name>HomeHeader</name>
    <message>
        <source>Snooze</source>
        <translation>Posponer</translation>
    </message>
    <message>
        <source>Finish round, then stop</source>
        <translation>Terminar la ronda y parar</translation>
    </message>
    <message>
        <source>Ends the round under way, so that none of its work is lost.</source>
        <translation>Termina la ronda en curso, para no perder nada de su trabajo.</translation>
    </message>
    <message>
        <source>Go on after this round</source>
        <translation>Seguir después de esta ronda</translation>
    </message>
    <message>
        <source>Start now anyway</source>
        <translation>Empezar de todos modos</translation>
    </message>
    <message>
        <source>Starts although a rule says to wait.</source>
        <translation>Empieza aunque una regla diga que hay que esperar.</translation>
    </message>
    <message>
        <source>Change this rule</source>
        <translation>Cambiar esta regla</translation>
    </message>
    <message>
        <source>Nothing is lent until this is solved.</source>
        <translation>No se presta nada hasta que esto se resuelva.</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pausar</translation>
    </message>
    <message>
        <source>Stops at once and gives the device back.</source>
        <translation>Se detiene al instante y devuelve el dispositivo.</translation>
    </message>
    <message>
        <source>Set up</source>
        <translation>Configurar</translation>
    </message>
    <message>
        <source>Resume now</source>
        <translation>Seguir ya</translation>
    </message>
    <message>
        <source>Contribute</source>
        <translation>Contribuir</translation>
    </message>
</context>
<context>
    <name>InvitationDialog</name>
    <message>
        <source>Join</source>
        <translation>Unirse</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>Ahora no</translation>
    </message>
    <message>
        <source>An invitation</source>
        <translation>Una invitación</translation>
    </message>
    <message>
        <source>Checking this invitation with {ledger}…</source>
        <translation>Comprobando esta invitación con {ledger}…</translation>
    </message>
    <message>
        <source>Join the run “{run}”?</source>
        <translation>¿Unirse al entrenamiento «{run}»?</translation>
    </message>
    <message>
        <source>Join the network “{network}”?</source>
        <translation>¿Unirse a la red «{network}»?</translation>
    </message>
    <message>
        <source>The organisers of the network “{network}” invite you (entry {index} of the log at {ledger}).</source>
        <translation>Te invitan los organizadores de la red «{network}» (entrada {index} de la bitácora en {ledger}).</translation>
    </message>
    <message>
        <source>Make my key</source>
        <translation>Crear mi clave</translation>
    </message>
    <message>
        <source>Your key comes first: it is made in the first steps. Then this question comes again.</source>
        <translation>Primero va tu clave: se crea en los primeros pasos. Después vuelve esta pregunta.</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Cerrar</translation>
    </message>
    <message>
        <source>This invitation cannot be used</source>
        <translation>Esta invitación no se puede usar</translation>
    </message>
    <message>
        <source>Nothing was changed.</source>
        <translation>No se ha cambiado nada.</translation>
    </message>
    <message>
        <source>Joining. This may take a minute.</source>
        <translation>Uniéndose. Puede tardar un minuto.</translation>
    </message>
    <message>
        <source>Your key is in this network already and stays as it is; the invitation is not used up.</source>
        <translation>Tu clave ya está en esta red y se queda como está; la invitación no se gasta.</translation>
    </message>
    <message numerus="yes">
        <source>%n use(s) left, valid until {until}.</source>
        <translation>
            <numerusform>Queda %n uso, válida hasta {until}.</numerusform>
            <numerusform>Quedan %n usos, válida hasta {until}.</numerusform>
        </translation>
    </message>
    <message>
        <source>Everybody can read in the log that this invitation let your key in; the organisers can take it back.</source>
        <translation>Cualquiera puede leer en la bitácora que esta invitación dejó entrar a tu clave; los organizadores pueden retirarla.</translation>
    </message>
    <message>
        <source>You will lend to this ledger instead of {old}. The settings change it back.</source>
        <translation>Prestarás a este registro en lugar de {old}. En los ajustes se vuelve a cambiar.</translation>
    </message>
    <message>
        <source>What you have chosen about when and how much to lend holds as before.</source>
        <translation>Lo que has elegido sobre cuándo y cuánto prestar vale como antes.</translation>
    </message>
    <message>
        <source>Nothing is lent before you have gone through the first steps.</source>
        <translation>No se presta nada antes de que hayas dado los primeros pasos.</translation>
    </message>
    <message>
        <source>You choose the run, among all of this network.</source>
        <translation>Tú eliges el entrenamiento, entre todos los de esta red.</translation>
    </message>
    <message numerus="yes">
        <source>%n computers are in it now</source>
        <translation>
            <numerusform>%n equipo está en él ahora</numerusform>
            <numerusform>%n equipos están en él ahora</numerusform>
        </translation>
    </message>
    <message>
        <source>{tokens} tokens were trained so far</source>
        <translation>hasta ahora se han entrenado {tokens} tokens</translation>
    </message>
    <message>
        <source>{members}; {tokens}</source>
        <translation>{members}; {tokens}</translation>
    </message>
    <message>
        <source>The server at {ledger} does not answer as a ledger ({detail}). Try the link again later, or ask its sender.</source>
        <translation>El servidor en {ledger} no responde como un registro ({detail}). Prueba el enlace más tarde, o pregunta a quien te lo envió.</translation>
    </message>
    <message>
        <source>{ledger} belongs to another network than this link. Ask its sender for a new link.</source>
        <translation>{ledger} pertenece a otra red que este enlace. Pide un enlace nuevo a quien te lo envió.</translation>
    </message>
    <message>
        <source>The network does not know this invitation yet. A second organiser may still have to sign it. Try the link again later, or ask its sender.</source>
        <translation>La red aún no conoce esta invitación. Puede que falte la firma de un segundo organizador. Prueba el enlace más tarde, o pregunta a quien te lo envió.</translation>
    </message>
    <message>
        <source>The organisers have ended this invitation. Ask for another.</source>
        <translation>Los organizadores han terminado esta invitación. Pide otra.</translation>
    </message>
    <message>
        <source>This invitation has expired. Ask for another.</source>
        <translation>Esta invitación ha caducado. Pide otra.</translation>
    </message>
    <message>
        <source>This invitation has been used up. Ask for another.</source>
        <translation>Esta invitación está agotada. Pide otra.</translation>
    </message>
    <message>
        <source>The run “{detail}” has ended.</source>
        <translation>El entrenamiento «{detail}» ha terminado.</translation>
    </message>
    <message>
        <source>This app's folder belongs to another network, with its key and points. Join on the command line, in a folder of its own: tequio join LINK --dir FOLDER</source>
        <translation>La carpeta de esta aplicación es de otra red, con su clave y sus puntos. Únete desde la línea de órdenes, en una carpeta propia: tequio join LINK --dir FOLDER</translation>
    </message>
    <message>
        <source>This invitation link is incomplete ({detail}). Open it again from where you got it.</source>
        <translation>Este enlace de invitación está incompleto ({detail}). Ábrelo de nuevo desde donde lo recibiste.</translation>
    </message>
    <message>
        <source>The worker here was started elsewhere. End it, then open the link again.</source>
        <translation>El programa de trabajo de aquí se inició en otro sitio. Termínalo y abre el enlace otra vez.</translation>
    </message>
</context>
<context>
    <name>JoinNetworkDialog</name>
    <message>
        <source>This computer is in the network at {ledger} now.</source>
        <translation>Ahora este equipo está en la red de {ledger}.</translation>
    </message>
    <message>
        <source>A link names the network at this address. Nothing is lent by joining: you decide later when this computer works for it.</source>
        <translation>Un enlace nombra la red de esta dirección. Unirte no presta nada todavía: después decides cuándo trabaja este equipo para ella.</translation>
    </message>
    <message>
        <source>Choose the network that this computer should work for.</source>
        <translation>Elige la red para la que debe trabajar este equipo.</translation>
    </message>
    <message>
        <source>Join this network?</source>
        <translation>¿Unirte a esta red?</translation>
    </message>
    <message>
        <source>Join a network</source>
        <translation>Unirse a una red</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Cancelar</translation>
    </message>
</context>
<context>
    <name>JoinedCard</name>
    <message>
        <source>Since you joined</source>
        <translation>Desde que participas</translation>
    </message>
    <message>
        <source>None of your work has been accepted yet. Once it is, you can see here how the model has changed since.</source>
        <translation>Aún no se ha aceptado nada de tu trabajo. Cuando se acepte, aquí verás cómo ha cambiado el modelo desde entonces.</translation>
    </message>
    <message>
        <source>Your work has counted since round {round}. The model has not been measured since.</source>
        <translation>Tu trabajo cuenta desde la ronda {round}. Desde entonces no se ha medido el modelo.</translation>
    </message>
    <message>
        <source>Your work has counted since round {round}. The next measure will show how the model changes.</source>
        <translation>Tu trabajo cuenta desde la ronda {round}. La próxima medición mostrará cómo cambia el modelo.</translation>
    </message>
    <message>
        <source>Since your work first counted, in round {round}, the model has improved from {then} to {now} bits per byte on unseen text: {percent} fewer. Its perplexity went from {before} to {after}.</source>
        <translation>Desde que tu trabajo contó por primera vez, en la ronda {round}, el modelo ha mejorado de {then} a {now} bits por byte en textos que no ha visto: un {percent} menos. Su perplejidad ha pasado de {before} a {after}.</translation>
    </message>
    <message>
        <source>Since your work first counted, in round {round}, the model has gone from {then} to {now} bits per byte on unseen text: {percent} more. Its perplexity went from {before} to {after}. Lower is better; both go up and down from round to round.</source>
        <translation>Desde que tu trabajo contó por primera vez, en la ronda {round}, el modelo ha pasado de {then} a {now} bits por byte en textos que no ha visto: un {percent} más. Su perplejidad ha pasado de {before} a {after}. Menos es mejor; de ronda a ronda ambas cifras suben y bajan.</translation>
    </message>
</context>
<context>
    <name>JudgingCard</name>
    <message>
        <source>Judging</source>
        <translation>Evaluación</translation>
    </message>
    <message>
        <source>Offer to judge</source>
        <translation>Ofrecerse a evaluar</translation>
    </message>
    <message>
        <source>Resume judging</source>
        <translation>Seguir juzgando</translation>
    </message>
    <message>
        <source>Stop judging</source>
        <translation>Dejar de juzgar</translation>
    </message>
</context>
<context>
    <name>KeyAccount</name>
    <message>
        <source>The worker does not answer</source>
        <translation>El programa de trabajo no responde</translation>
    </message>
</context>
<context>
    <name>KeyCard</name>
    <message>
        <source>24 words…</source>
        <translation>24 palabras…</translation>
    </message>
    <message>
        <source>Save a file…</source>
        <translation>Guardar un archivo…</translation>
    </message>
    <message>
        <source>Change how it's stored…</source>
        <translation>Cambiar cómo se guarda…</translation>
    </message>
    <message>
        <source>Restore another…</source>
        <translation>Restaurar otra…</translation>
    </message>
    <message>
        <source>A sealed key</source>
        <translation>Una clave sellada</translation>
    </message>
    <message>
        <source>No key</source>
        <translation>Sin clave</translation>
    </message>
    <message>
        <source>You don't have a key yet.</source>
        <translation>Aún no hay clave.</translation>
    </message>
    <message>
        <source>Kept in this system's keyring: the file alone is worth nothing.</source>
        <translation>Guardada en el llavero de este sistema: el archivo solo no vale nada.</translation>
    </message>
    <message>
        <source>Kept under your passphrase, which is asked at each start.</source>
        <translation>Guardada con tu contraseña, que se pide en cada arranque.</translation>
    </message>
    <message>
        <source>Stored unencrypted, in a file only your user account can read.</source>
        <translation>Guardada sin cifrar, en un archivo que solo tu cuenta de usuario puede leer.</translation>
    </message>
    <message>
        <source>No backup yet</source>
        <translation>Aún sin copia</translation>
    </message>
    <message>
        <source>Back it up now, or later: until then Home reminds you. If this disk fails without a backup, your points cannot be claimed.</source>
        <translation>Respáldala ahora o más tarde: hasta entonces Inicio te lo recuerda. Si este disco falla sin una copia, no podrás reclamar tus puntos.</translation>
    </message>
    <message>
        <source>Backed up as words, {day}</source>
        <translation>Respaldada en palabras, {day}</translation>
    </message>
    <message>
        <source>Backed up as a file, {day}</source>
        <translation>Respaldada en un archivo, {day}</translation>
    </message>
    <message>
        <source>You can make as many backups as you like; all remain valid.</source>
        <translation>Puedes hacer tantas copias como quieras; todas siguen valiendo.</translation>
    </message>
</context>
<context>
    <name>KeyDialog</name>
    <message>
        <source>Cancel</source>
        <translation>Cancelar</translation>
    </message>
</context>
<context>
    <name>KeyStep</name>
    <message>
        <source>Your key</source>
        <translation>Tu clave</translation>
    </message>
    <message>
        <source>Your key is your account: no e-mail and no sign-up. It signs your work, and the points belong to it.</source>
        <translation>Tu clave es tu cuenta: sin correo ni registro. Firma tu trabajo, y los puntos le pertenecen.</translation>
    </message>
</context>
<context>
    <name>LeaveDialog</name>
    <message>
        <source>Nothing is lent. What you chose is kept, and “Set up” on Home returns to this step.</source>
        <translation>No se presta nada. Lo que elegiste se guarda, y “Configurar” en Inicio te trae de vuelta a este mismo paso.</translation>
    </message>
    <message>
        <source>What you chose here is dropped, and lending stays as it was.</source>
        <translation>Lo que elegiste aquí se descarta, y el préstamo sigue como estaba.</translation>
    </message>
    <message>
        <source>Leave this for now?</source>
        <translation>¿Dejarlo por ahora?</translation>
    </message>
    <message>
        <source>Leave for now</source>
        <translation>Dejarlo por ahora</translation>
    </message>
    <message>
        <source>Go on here</source>
        <translation>Seguir aquí</translation>
    </message>
</context>
<context>
    <name>LedgerCheck</name>
    <message>
        <source>{address} is not a valid ledger address: it must begin with http:// or https:// and name a computer, for example https://ledger.example.</source>
        <translation>{address} no es una dirección de registro válida: debe empezar por http:// o https:// y nombrar un equipo, por ejemplo https://ledger.example.</translation>
    </message>
    <message>
        <source>Nothing answers at {address}. Check the address and your connection.</source>
        <translation>En {address} no responde nadie. Comprueba la dirección y tu conexión.</translation>
    </message>
    <message>
        <source>{address} is not a ledger. Check the address with its sender.</source>
        <translation>{address} no es un registro. Comprueba la dirección con quien te la dio.</translation>
    </message>
</context>
<context>
    <name>LedgerField</name>
    <message>
        <source>Ledger's address</source>
        <translation>Dirección del registro</translation>
    </message>
    <message>
        <source>Join a network…</source>
        <translation>Unirse a una red…</translation>
    </message>
    <message>
        <source>Connecting…</source>
        <translation>Conectando…</translation>
    </message>
    <message>
        <source>No network was chosen yet.</source>
        <translation>Aún no se eligió ninguna red.</translation>
    </message>
    <message>
        <source>Not answering now. Tequio keeps trying.</source>
        <translation>Ahora no responde. Tequio sigue intentándolo.</translation>
    </message>
    <message>
        <source>Connected.</source>
        <translation>Conectado.</translation>
    </message>
</context>
<context>
    <name>ListPage</name>
    <message>
        <source>Refresh</source>
        <translation>Actualizar</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Reintentar</translation>
    </message>
    <message>
        <source>This list is from {time}. {problem}; Tequio keeps trying.</source>
        <translation>Esta lista es de {time}. {problem}; Tequio sigue intentándolo.</translation>
    </message>
</context>
<context>
    <name>ListenField</name>
    <message>
        <source>Listen address</source>
        <translation>Dirección de escucha</translation>
    </message>
    <message>
        <source>{address} is not a valid listen address: write /ip4/0.0.0.0/tcp/4001, or leave it empty.</source>
        <translation>{address} no es una dirección de escucha válida: escribe /ip4/0.0.0.0/tcp/4001, o déjala vacía.</translation>
    </message>
</context>
<context>
    <name>LoginSwitch</name>
    <message>
        <source>Start at login</source>
        <translation>Arrancar al iniciar sesión</translation>
    </message>
    <message>
        <source>The system refused the change: {why}. Add Tequio to its startup programs by hand.</source>
        <translation>El sistema rechazó el cambio: {why}. Añade Tequio a mano a sus programas de inicio.</translation>
    </message>
    <message>
        <source>The system accepted the change but does not report it. Check its own list of startup programs.</source>
        <translation>El sistema aceptó el cambio, pero no lo muestra. Comprueba su propia lista de programas de inicio.</translation>
    </message>
</context>
<context>
    <name>LostKeyControl</name>
    <message>
        <source>Use a recovery key…</source>
        <translation>Usar una clave de recuperación…</translation>
    </message>
</context>
<context>
    <name>LostKeyDialog</name>
    <message>
        <source>A lost or stolen computer</source>
        <translation>Un equipo perdido o robado</translation>
    </message>
    <message>
        <source>The recovery key stops that computer's key permanently: a thief can no longer use it. If the key had no recovery key, a backup of the key itself does the same.</source>
        <translation>La clave de recuperación detiene para siempre la clave de ese equipo: un ladrón ya no puede usarla. Si no tenía clave de recuperación, una copia de seguridad de la propia clave hace lo mismo.</translation>
    </message>
    <message>
        <source>What to do</source>
        <translation>Qué hacer</translation>
    </message>
    <message>
        <source>Only stop its key</source>
        <translation>Solo detener su clave</translation>
    </message>
    <message>
        <source>Move its points here</source>
        <translation>Traer sus puntos aquí</translation>
    </message>
    <message>
        <source>Key of the lost computer</source>
        <translation>Clave del equipo perdido</translation>
    </message>
    <message>
        <source>Its 43 characters, or the address of its page</source>
        <translation>Sus 43 caracteres, o la dirección de su página</translation>
    </message>
    <message>
        <source>In the full ranking, its name opens that page.</source>
        <translation>En la clasificación completa, su nombre abre esa página.</translation>
    </message>
    <message>
        <source>Passphrase of the file</source>
        <translation>Contraseña del archivo</translation>
    </message>
    <message>
        <source>I know that this key can never be used again</source>
        <translation>Sé que esta clave no podrá volver a usarse nunca</translation>
    </message>
    <message>
        <source>Its recovery key</source>
        <translation>Su clave de recuperación</translation>
    </message>
    <message>
        <source>Move the points</source>
        <translation>Traer los puntos</translation>
    </message>
    <message>
        <source>Stop the key</source>
        <translation>Detener la clave</translation>
    </message>
    <message>
        <source>A new key on this computer gets the points, standing, name and team of the lost one. The key that this computer has now is kept aside, with its own points.</source>
        <translation>Una clave nueva en este equipo recibe los puntos, la situación, el nombre y la afiliación de la perdida. La clave que este equipo tiene ahora se guarda aparte, con sus propios puntos.</translation>
    </message>
    <message>
        <source>It earns nothing more. You can still move its points later.</source>
        <translation>No gana nada más. Más adelante aún puedes traer sus puntos.</translation>
    </message>
</context>
<context>
    <name>ModelPage</name>
    <message>
        <source>The model that this computer helps to train.</source>
        <translation>El modelo que este equipo ayuda a entrenar.</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modelo</translation>
    </message>
    <message>
        <source>No run yet</source>
        <translation>Aún sin entrenamientos</translation>
    </message>
    <message>
        <source>Once this computer is in a run, you can see here what its model learns.</source>
        <translation>Cuando este equipo esté en un entrenamiento, aquí verás lo que aprende su modelo.</translation>
    </message>
    <message>
        <source>Open Runs</source>
        <translation>Abrir Entrenamientos</translation>
    </message>
    <message>
        <source>{run}: the model that this computer helps to train.</source>
        <translation>{run}: el modelo que este equipo ayuda a entrenar.</translation>
    </message>
    <message>
        <source>Couldn't read the measures of this model. Tequio keeps trying.</source>
        <translation>No se pudieron leer las mediciones de este modelo. Tequio sigue intentándolo.</translation>
    </message>
    <message>
        <source>The model got worse: after round {number}, it guesses unseen text less well than after round {best}. Several members measured it and agree. The organisers can pause the run and go back to an earlier model.</source>
        <translation>El modelo ha empeorado: después de la ronda {number} adivina peor un texto no visto que después de la ronda {best}. Varios miembros lo han medido y coinciden. Los organizadores pueden pausar el entrenamiento y volver a un modelo anterior.</translation>
    </message>
    <message>
        <source>This model has not been measured yet. Some members measure it every few rounds if the run's rules say so, and the results appear here.</source>
        <translation>Este modelo aún no se ha medido. Si las reglas del entrenamiento lo prevén, algunos miembros lo miden cada pocas rondas y los resultados aparecen aquí.</translation>
    </message>
    <message>
        <source>Asking the network how well the model does.</source>
        <translation>Preguntando a la red qué tal va el modelo.</translation>
    </message>
    <message>
        <source>{problem}. Tequio will keep trying.</source>
        <translation>{problem}. Tequio seguirá intentándolo.</translation>
    </message>
    <message>
        <source>Couldn't load the model</source>
        <translation>No se pudo cargar el modelo</translation>
    </message>
    <message>
        <source>Looking for the model</source>
        <translation>Buscando el modelo</translation>
    </message>
    <message>
        <source>Asking the network which run this computer is in.</source>
        <translation>Preguntando a la red en qué entrenamiento está este equipo.</translation>
    </message>
</context>
<context>
    <name>NameControl</name>
    <message>
        <source>Choose…</source>
        <translation>Elegir…</translation>
    </message>
    <message>
        <source>Change…</source>
        <translation>Cambiar…</translation>
    </message>
    <message>
        <source>You can choose a name once a round has accepted your work.</source>
        <translation>Podrás elegir un nombre cuando una ronda haya aceptado tu trabajo.</translation>
    </message>
</context>
<context>
    <name>NameDialog</name>
    <message>
        <source>Public name</source>
        <translation>Nombre público</translation>
    </message>
    <message>
        <source>The name is unique in this network. You can change it once every 30 days, and nobody else can take your former name for that long.</source>
        <translation>El nombre es único en esta red. Puedes cambiarlo una vez cada 30 días; durante ese tiempo nadie más puede quedarse con el anterior.</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Nombre</translation>
    </message>
    <message>
        <source>No name</source>
        <translation>Sin nombre</translation>
    </message>
    <message>
        <source>Names are public and permanent: old ones stay in the log.</source>
        <translation>Los nombres son públicos y permanentes: los anteriores quedan en la bitácora.</translation>
    </message>
    <message>
        <source>2 to 32 letters of one script and digits, with single spaces, hyphens or underscores between them.</source>
        <translation>De 2 a 32 letras de un mismo alfabeto y cifras, separadas solo por un espacio, un guion o un guion bajo.</translation>
    </message>
    <message>
        <source>This is not a possible name: use 2 to 32 letters of one script and digits, with single spaces, hyphens or underscores between them.</source>
        <translation>Este nombre no es posible: usa de 2 a 32 letras de un mismo alfabeto y cifras, separadas solo por un espacio, un guion o un guion bajo.</translation>
    </message>
    <message>
        <source>Remove the name</source>
        <translation>Quitar el nombre</translation>
    </message>
    <message>
        <source>Use this name</source>
        <translation>Usar este nombre</translation>
    </message>
</context>
<context>
    <name>NetworkChooser</name>
    <message>
        <source>Address or invitation link</source>
        <translation>Dirección o enlace de invitación</translation>
    </message>
    <message>
        <source>Join</source>
        <translation>Unirse</translation>
    </message>
    <message>
        <source>Or paste an address</source>
        <translation>O pega una dirección</translation>
    </message>
    <message>
        <source>Paste an address</source>
        <translation>Pega una dirección</translation>
    </message>
    <message>
        <source>Organisers publish the address of their network's ledger, or send you an invitation link. Nothing is lent by joining.</source>
        <translation>Los organizadores publican la dirección del registro de su red o te envían un enlace de invitación. Unirte no presta nada todavía.</translation>
    </message>
    <message>
        <source>This link is not complete. Copy all of it, from {scheme}:// to its end.</source>
        <translation>Este enlace no está completo. Cópialo entero, desde {scheme}:// hasta el final.</translation>
    </message>
    <message>
        <source>Looking for a ledger at {address}…</source>
        <translation>Buscando un registro en {address}…</translation>
    </message>
    <message>
        <source>“{name}” is not the network that your key and points belong to. To join it as well, start the app with another folder: tequio app --dir {folder}</source>
        <translation>«{name}» no es la red a la que pertenecen tu clave y tus puntos. Para unirte también a ella, inicia la aplicación con otra carpeta: tequio app --dir {folder}</translation>
    </message>
    <message>
        <source>Its log must be signed by independent witnesses, too.</source>
        <translation>Su bitácora debe llevar también la firma de testigos independientes.</translation>
    </message>
</context>
<context>
    <name>NetworkPanel</name>
    <message>
        <source>First, choose a network</source>
        <translation>Primero, elige una red</translation>
    </message>
    <message>
        <source>Another network…</source>
        <translation>Otra red…</translation>
    </message>
    <message>
        <source>Network: {ledger}</source>
        <translation>Red: {ledger}</translation>
    </message>
</context>
<context>
    <name>NewKeyCard</name>
    <message>
        <source>Make my key</source>
        <translation>Crear mi clave</translation>
    </message>
    <message>
        <source>I have one already…</source>
        <translation>Ya tengo una…</translation>
    </message>
    <message>
        <source>Where should it be stored?</source>
        <translation>¿Dónde se guarda?</translation>
    </message>
</context>
<context>
    <name>NewPassphrase</name>
    <message>
        <source>Passphrase</source>
        <translation>Contraseña</translation>
    </message>
    <message>
        <source>Repeat the passphrase</source>
        <translation>La misma contraseña otra vez</translation>
    </message>
    <message>
        <source>Show what I type</source>
        <translation>Mostrar lo que escribo</translation>
    </message>
    <message>
        <source>The two are not the same.</source>
        <translation>Las dos no son iguales.</translation>
    </message>
    <message>
        <source>At least {least} characters.</source>
        <translation>Al menos {least} caracteres.</translation>
    </message>
    <message>
        <source>Longer is safer: four or five unrelated words do well.</source>
        <translation>Más larga es más segura: bastan cuatro o cinco palabras sin relación.</translation>
    </message>
    <message>
        <source>Nobody can reset it: without it the key cannot be opened.</source>
        <translation>Nadie puede restablecerla: sin ella la clave no se abre.</translation>
    </message>
</context>
<context>
    <name>Notifier</name>
    <message>
        <source>Tequio goes on in the background</source>
        <translation>Tequio sigue en segundo plano</translation>
    </message>
    <message>
        <source>Its tray icon shows what it is doing, and opens this window again.</source>
        <translation>Su icono en el panel dice lo que hace y abre otra vez esta ventana.</translation>
    </message>
    <message>
        <source>{points} points so far. The log's proof was checked on this computer.</source>
        <translation>{points} puntos hasta ahora. La prueba de la bitácora se comprobó en este equipo.</translation>
    </message>
    <message>
        <source>Your first points are verified</source>
        <translation>Tus primeros puntos están verificados</translation>
    </message>
    <message>
        <source>You are #{rank} of {ranked}</source>
        <translation>Estás en el puesto {rank} de {ranked}</translation>
    </message>
    <message numerus="yes">
        <source>%n place(s) up since you were last told.</source>
        <translation>
            <numerusform>%n puesto más arriba que la última vez.</numerusform>
            <numerusform>%n puestos más arriba que la última vez.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n place(s) down since you were last told.</source>
        <translation>
            <numerusform>%n puesto más abajo que la última vez.</numerusform>
            <numerusform>%n puestos más abajo que la última vez.</numerusform>
        </translation>
    </message>
    <message>
        <source>The same place as last time.</source>
        <translation>El mismo puesto que la última vez.</translation>
    </message>
    <message>
        <source>From the network's organisers</source>
        <translation>De los organizadores de la red</translation>
    </message>
    <message>
        <source>Tequio needs your attention</source>
        <translation>Tequio necesita tu atención</translation>
    </message>
    <message>
        <source>Open Tequio</source>
        <translation>Abrir Tequio</translation>
    </message>
</context>
<context>
    <name>OrganiserNotices</name>
    <message>
        <source>From the organisers of this network: {text}</source>
        <translation>De los organizadores de esta red: {text}</translation>
    </message>
    <message>
        <source>{run} is paused by its organisers: {text}</source>
        <translation>Los organizadores han puesto en pausa {run}: {text}</translation>
    </message>
    <message>
        <source>From the organisers of {run}: {text}</source>
        <translation>De los organizadores de {run}: {text}</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>Descartar</translation>
    </message>
</context>
<context>
    <name>OwnTeamPane</name>
    <message>
        <source>Goal</source>
        <translation>Meta</translation>
    </message>
    <message>
        <source>Members of the team</source>
        <translation>Miembros del equipo</translation>
    </message>
    <message>
        <source>Join link</source>
        <translation>Enlace para entrar</translation>
    </message>
    <message>
        <source>Code</source>
        <translation>Código</translation>
    </message>
    <message>
        <source>Make a new link</source>
        <translation>Crear un enlace nuevo</translation>
    </message>
    <message>
        <source>Close the link</source>
        <translation>Cerrar el enlace</translation>
    </message>
    <message>
        <source>Points of the goal</source>
        <translation>Puntos de la meta</translation>
    </message>
    <message>
        <source>No goal</source>
        <translation>Sin meta</translation>
    </message>
    <message>
        <source>Last day of the goal</source>
        <translation>Último día de la meta</translation>
    </message>
    <message>
        <source>Set the goal</source>
        <translation>Fijar la meta</translation>
    </message>
    <message>
        <source>New name of the team</source>
        <translation>Nombre nuevo del equipo</translation>
    </message>
    <message>
        <source>Use this name</source>
        <translation>Usar este nombre</translation>
    </message>
    <message>
        <source>Remove…</source>
        <translation>Expulsar…</translation>
    </message>
    <message>
        <source>Hand over…</source>
        <translation>Traspasar…</translation>
    </message>
    <message>
        <source>Open its page</source>
        <translation>Abrir su página</translation>
    </message>
    <message>
        <source>Leave the team…</source>
        <translation>Dejar el equipo…</translation>
    </message>
    <message>
        <source>The organisers of the network withdrew the team's name. Choose another one.</source>
        <translation>Los organizadores de la red retiraron el nombre del equipo. Elige otro.</translation>
    </message>
    <message>
        <source>The same as a code, for people in this network:</source>
        <translation>Lo mismo como código, para quien está en esta red:</translation>
    </message>
    <message>
        <source>Goal: {reached} of {goal} points by {day}</source>
        <translation>Meta: {reached} de {goal} puntos hasta el {day}</translation>
    </message>
    <message>
        <source>Goal reached: {reached} of {goal} points by {day}</source>
        <translation>Meta alcanzada: {reached} de {goal} puntos hasta el {day}</translation>
    </message>
    <message>
        <source>Everyone who has it can join until {day}. A new link ends this one.</source>
        <translation>Quien lo tenga puede entrar hasta el {day}. Un enlace nuevo anula este.</translation>
    </message>
    <message>
        <source>The present link was made with another key or ended.</source>
        <translation>El enlace actual se creó con otra clave o ha caducado.</translation>
    </message>
    <message>
        <source>Nobody can join at the moment.</source>
        <translation>Por ahora no puede entrar nadie.</translation>
    </message>
</context>
<context>
    <name>PeriodicQuestion</name>
    <message>
        <source>The worker does not answer</source>
        <translation>El programa de trabajo no responde</translation>
    </message>
</context>
<context>
    <name>PointsExport</name>
    <message>
        <source>the worker does not answer</source>
        <translation>el programa de trabajo no responde</translation>
    </message>
    <message>
        <source>{file} was not written: {why}. Choose another place, or try again.</source>
        <translation>No se escribió {file}: {why}. Elige otro lugar o prueba otra vez.</translation>
    </message>
</context>
<context>
    <name>PointsPage</name>
    <message>
        <source>Share…</source>
        <translation>Compartir…</translation>
    </message>
    <message>
        <source>Export CSV</source>
        <translation>Exportar CSV</translation>
    </message>
    <message>
        <source>Points</source>
        <translation>Puntos</translation>
    </message>
    <message>
        <source>Counted only when this computer has checked the proof in the ledger's log.</source>
        <translation>Solo cuentan cuando este equipo comprobó la prueba en la bitácora del registro.</translation>
    </message>
    <message>
        <source>Export all rounds</source>
        <translation>Exportar todas las rondas</translation>
    </message>
    <message>
        <source>Comma-separated values (*.csv)</source>
        <translation>Valores separados por comas (*.csv)</translation>
    </message>
    <message>
        <source>Processor</source>
        <translation>Procesador</translation>
    </message>
    <message>
        <source>Your key has no public page yet: it gets one when it joins the network.</source>
        <translation>Tu clave aún no tiene una página pública: tendrá una cuando se una a la red.</translation>
    </message>
    <message>
        <source>The ledger says that you have {points} more points. This computer has not read and checked their log entries yet, so they are not counted here. It does so automatically.</source>
        <translation>El registro dice que tienes {points} puntos más. Sus entradas en la bitácora aún no se han leído y comprobado aquí, así que no se cuentan. Eso continúa solo.</translation>
    </message>
    <message numerus="yes">
        <source>%Ln round(s) written to {file}</source>
        <translation>
            <numerusform>%Ln ronda escrita en {file}</numerusform>
            <numerusform>%Ln rondas escritas en {file}</numerusform>
        </translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Cerrar</translation>
    </message>
</context>
<context>
    <name>PointsRange</name>
    <message>
        <source>Verified points over time</source>
        <translation>Puntos verificados en el tiempo</translation>
    </message>
    <message>
        <source>Time span</source>
        <translation>Periodo</translation>
    </message>
    <message>
        <source>24 h</source>
        <translation>24 h</translation>
    </message>
    <message>
        <source>7 days</source>
        <translation>7 días</translation>
    </message>
    <message>
        <source>30 days</source>
        <translation>30 días</translation>
    </message>
    <message>
        <source>All</source>
        <translation>Todo</translation>
    </message>
    <message>
        <source>No points were verified in this time.</source>
        <translation>No se verificaron puntos en este periodo.</translation>
    </message>
    <message>
        <source>{total} points in this time</source>
        <translation>{total} puntos en este periodo</translation>
    </message>
    <message>
        <source>{summary}; most at {when}: {points}</source>
        <translation>{summary}; lo máximo, {when}: {points}</translation>
    </message>
</context>
<context>
    <name>PointsSums</name>
    <message>
        <source>Verified</source>
        <translation>Verificados</translation>
    </message>
    <message>
        <source>Vesting</source>
        <translation>Por consolidar</translation>
    </message>
    <message>
        <source>Pending</source>
        <translation>Pendientes</translation>
    </message>
    <message>
        <source>Rejected today</source>
        <translation>Rechazadas hoy</translation>
    </message>
    <message>
        <source>{points} today</source>
        <translation>{points} hoy</translation>
    </message>
    <message>
        <source>Rounds that are not proven yet</source>
        <translation>Rondas aún sin prueba</translation>
    </message>
    <message>
        <source>Nothing pending</source>
        <translation>Nada pendiente</translation>
    </message>
    <message>
        <source>Rounds that gave nothing</source>
        <translation>Rondas que no dieron nada</translation>
    </message>
    <message>
        <source>None today</source>
        <translation>Ninguna hoy</translation>
    </message>
    <message>
        <source>{points} were forfeited</source>
        <translation>{points} se perdieron</translation>
    </message>
    <message>
        <source>Final after a few more rounds</source>
        <translation>Firmes tras unas rondas más</translation>
    </message>
    <message>
        <source>All points are final</source>
        <translation>Todos son definitivos</translation>
    </message>
</context>
<context>
    <name>PresetPicker</name>
    <message>
        <source>Preset</source>
        <translation>Perfil</translation>
    </message>
    <message>
        <source>Gentle</source>
        <translation>Suave</translation>
    </message>
    <message>
        <source>Starts after 15 min without input. Pauses for films, and when other programs use a quarter of the CPU.</source>
        <translation>Empieza tras 15 min sin actividad. Se pausa con películas y cuando otros programas usan un cuarto de la CPU.</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>Equilibrado</translation>
    </message>
    <message>
        <source>Starts after 5 min without input. Continues during films; other programs may use half of the CPU.</source>
        <translation>Empieza tras 5 min sin actividad. Sigue durante las películas; otros programas pueden usar media CPU.</translation>
    </message>
    <message>
        <source>Max</source>
        <translation>Máximo</translation>
    </message>
    <message>
        <source>Starts after 1 min without input, and runs gently while you use the computer. Other programs may use three quarters of the CPU.</source>
        <translation>Empieza tras 1 min sin actividad, y trabaja con suavidad mientras usas el equipo. Otros programas pueden usar tres cuartos de la CPU.</translation>
    </message>
    <message>
        <source>You have changed settings that presets cover. A preset changes only the settings named on its card.</source>
        <translation>Has cambiado ajustes que los perfiles incluyen. Un perfil solo cambia los ajustes que nombra su tarjeta.</translation>
    </message>
    <message>
        <source>Use Max</source>
        <translation>Usar Máximo</translation>
    </message>
    <message>
        <source>Preset: {preset}</source>
        <translation>Perfil: {preset}</translation>
    </message>
</context>
<context>
    <name>ProgramPicker</name>
    <message>
        <source>Choose a program</source>
        <translation>Elige un programa</translation>
    </message>
    <message>
        <source>Name of the program</source>
        <translation>Nombre del programa</translation>
    </message>
    <message>
        <source>Search, or type a name such as blender</source>
        <translation>Busca, o escribe un nombre como blender</translation>
    </message>
    <message>
        <source>Programs running now</source>
        <translation>Programas abiertos ahora</translation>
    </message>
    <message>
        <source>Looking for programs…</source>
        <translation>Buscando programas…</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>Agregar</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Cancelar</translation>
    </message>
    <message>
        <source>No running program has this name. Add uses it as you typed it.</source>
        <translation>Ningún programa abierto se llama así. Añadir lo usa tal como lo has escrito.</translation>
    </message>
    <message>
        <source>Nothing is lent while it runs. Pick a running program, or type its name.</source>
        <translation>No se presta nada mientras está abierto. Elige un programa abierto, o escribe su nombre.</translation>
    </message>
</context>
<context>
    <name>ProtectionDialog</name>
    <message>
        <source>How your key is kept</source>
        <translation>Cómo se guarda tu clave</translation>
    </message>
    <message>
        <source>The key stays the same. Backups that you have made remain valid.</source>
        <translation>La clave sigue siendo la misma. Las copias que hiciste siguen valiendo.</translation>
    </message>
    <message>
        <source>Store it this way</source>
        <translation>Guardarla así</translation>
    </message>
</context>
<context>
    <name>ProtectionPanel</name>
    <message>
        <source>In this system's keyring</source>
        <translation>En el llavero de este sistema</translation>
    </message>
    <message>
        <source>Unlocked automatically while you are logged in. The file alone is worth nothing.</source>
        <translation>Se abre automáticamente mientras tu sesión está iniciada. El archivo solo no vale nada.</translation>
    </message>
    <message>
        <source>Under a passphrase</source>
        <translation>Con una contraseña</translation>
    </message>
    <message>
        <source>Tequio asks for it at each start, so it can't start lending automatically at login.</source>
        <translation>Tequio la pide en cada inicio, así que no puede empezar a prestar automáticamente al iniciar sesión.</translation>
    </message>
    <message>
        <source>In an unencrypted file</source>
        <translation>En un archivo sin cifrar</translation>
    </message>
    <message>
        <source>Only your user account can read it. For servers and computers that nobody else uses.</source>
        <translation>Solo tu cuenta de usuario puede leerlo. Para servidores y equipos que nadie más usa.</translation>
    </message>
    <message>
        <source>Not encrypted: any program that you run can read the key and take your points, and so can anyone with a copy of this disk or of your files.</source>
        <translation>Sin cifrar: cualquier programa que ejecutes puede leer la clave y llevarse tus puntos, y también quien tenga una copia de este disco o de tus archivos.</translation>
    </message>
</context>
<context>
    <name>PublishedRow</name>
    <message>
        <source>Open</source>
        <translation>Abrir</translation>
    </message>
    <message>
        <source>Round {number}, on the Hugging Face Hub</source>
        <translation>Ronda {number}, en el Hub de Hugging Face</translation>
    </message>
    <message>
        <source>Open round {number} of {repo} in the browser</source>
        <translation>Abrir la ronda {number} de {repo} en el navegador</translation>
    </message>
</context>
<context>
    <name>RaceChart</name>
    <message>
        <source>Round {number}</source>
        <translation>Ronda {number}</translation>
    </message>
</context>
<context>
    <name>RankingCard</name>
    <message>
        <source>Around you</source>
        <translation>A tu alrededor</translation>
    </message>
    <message>
        <source>Ranking around you</source>
        <translation>Clasificación a tu alrededor</translation>
    </message>
    <message>
        <source>Full ranking</source>
        <translation>Clasificación completa</translation>
    </message>
    <message>
        <source>Not ranked yet</source>
        <translation>Aún sin puesto</translation>
    </message>
    <message>
        <source>After your first verified round you see who has about as many points.</source>
        <translation>Tras tu primera ronda verificada verás quién tiene más o menos los mismos puntos.</translation>
    </message>
    <message>
        <source>No ranking now</source>
        <translation>Ahora no hay clasificación</translation>
    </message>
    <message>
        <source>The network does not answer. Tequio keeps trying.</source>
        <translation>La red no responde. Tequio sigue intentándolo.</translation>
    </message>
</context>
<context>
    <name>RankingRows</name>
    <message>
        <source>Volunteer</source>
        <translation>Voluntario</translation>
    </message>
    <message>
        <source>Points</source>
        <translation>Puntos</translation>
    </message>
    <message>
        <source>{name} (you)</source>
        <translation>{name} (tú)</translation>
    </message>
    <message>
        <source>You</source>
        <translation>Tú</translation>
    </message>
</context>
<context>
    <name>ReachabilityChip</name>
    <message>
        <source>Yes</source>
        <translation>Sí</translation>
    </message>
    <message>
        <source>No</source>
        <translation>No</translation>
    </message>
    <message>
        <source>Not known yet</source>
        <translation>Aún no se sabe</translation>
    </message>
</context>
<context>
    <name>Readings</name>
    <message>
        <source>Load</source>
        <translation>Carga</translation>
    </message>
    <message>
        <source>Other programs</source>
        <translation>Otros programas</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Memoria</translation>
    </message>
    <message>
        <source>VRAM</source>
        <translation>VRAM</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>Temperatura</translation>
    </message>
    <message>
        <source>Power</source>
        <translation>Potencia</translation>
    </message>
</context>
<context>
    <name>ReadyStep</name>
    <message>
        <source>Ready</source>
        <translation>Listo</translation>
    </message>
    <message>
        <source>Your choices apply once you press the button below.</source>
        <translation>Lo que elegiste se aplica en cuanto pulses el botón de abajo.</translation>
    </message>
    <message>
        <source>Contribute</source>
        <translation>Contribuir</translation>
    </message>
    <message>
        <source>What happens next</source>
        <translation>Qué pasa después</translation>
    </message>
    <message>
        <source>Closing the window hides it; the tray icon shows the state, and pauses everything with two clicks.</source>
        <translation>Al cerrar la ventana se oculta; el icono en el panel muestra el estado y lo pausa todo con dos clics.</translation>
    </message>
    <message>
        <source>Join and download</source>
        <translation>Entrar y descargar</translation>
    </message>
    <message>
        <source>Begin when you are away</source>
        <translation>Empezar cuando no estés</translation>
    </message>
    <message>
        <source>First points</source>
        <translation>Primeros puntos</translation>
    </message>
    <message>
        <source>They are pending when your first round ends, and verified when the ledger has closed it and your computer has checked the proof, usually one round later.</source>
        <translation>Están pendientes cuando acaba tu primera ronda, y verificados cuando el registro la ha cerrado y tu equipo ha comprobado la prueba, normalmente una ronda después.</translation>
    </message>
    <message>
        <source>Gentle</source>
        <translation>Suave</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>Equilibrado</translation>
    </message>
    <message>
        <source>Max</source>
        <translation>Máximo</translation>
    </message>
    <message>
        <source>Starts at login</source>
        <translation>Arranca al iniciar sesión</translation>
    </message>
    <message>
        <source>Starts by hand</source>
        <translation>Arranca a mano</translation>
    </message>
    <message>
        <source>Run: as chosen</source>
        <translation>Entrenamiento: el elegido</translation>
    </message>
    <message>
        <source>Run: automatic</source>
        <translation>Entrenamiento: automático</translation>
    </message>
    <message>
        <source>No network yet</source>
        <translation>Sin red todavía</translation>
    </message>
    <message>
        <source>Key not backed up</source>
        <translation>Clave sin copia de seguridad</translation>
    </message>
    <message>
        <source>Tequio joins the run that you chose, and downloads its model and first data once.</source>
        <translation>Se entra en el entrenamiento que elegiste; su modelo y sus primeros datos se descargan una sola vez.</translation>
    </message>
    <message>
        <source>Tequio joins the run that fits best, and downloads its model and first data once.</source>
        <translation>Se entra en el entrenamiento más adecuado; su modelo y sus primeros datos se descargan una sola vez.</translation>
    </message>
    <message>
        <source>{run}: {data} to download once, about {time} at 50 Mbit/s.</source>
        <translation>{run}: se descargan {data} una sola vez, unos {time} con una línea de 50 Mbit/s.</translation>
    </message>
    <message>
        <source>First it downloads what training needs, once: {size}, {disk} on the disk.</source>
        <translation>Antes se descarga, una vez, lo que hace falta para entrenar: {size}, {disk} en el disco.</translation>
    </message>
    <message numerus="yes">
        <source>%n minute(s) after your last input. A key or the mouse stops it.</source>
        <translation>
            <numerusform>%n minuto después de tu última actividad. Una tecla o el mouse lo paran.</numerusform>
            <numerusform>%n minutos después de tu última actividad. Una tecla o el mouse lo paran.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Immediately at {share} of the time, and fully %n minute(s) after your last input.</source>
        <translation>
            <numerusform>Al instante el {share} del tiempo, y por completo %n minuto después de tu última actividad.</numerusform>
            <numerusform>Al instante el {share} del tiempo, y por completo %n minutos después de tu última actividad.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RecoveryControl</name>
    <message>
        <source>Make one…</source>
        <translation>Crear una…</translation>
    </message>
    <message>
        <source>Not known yet</source>
        <translation>Aún no se sabe</translation>
    </message>
    <message>
        <source>Set</source>
        <translation>Lista</translation>
    </message>
    <message>
        <source>Change it…</source>
        <translation>Cambiarla…</translation>
    </message>
    <message>
        <source>None yet</source>
        <translation>Aún no hay</translation>
    </message>
</context>
<context>
    <name>RecoveryDialog</name>
    <message>
        <source>Make a recovery key</source>
        <translation>Crear una clave de recuperación</translation>
    </message>
    <message>
        <source>If this computer is stolen or breaks, the recovery key stops its key and moves your points to a new one. Keep it away from this computer.</source>
        <translation>Si roban este equipo o se descompone, la clave de recuperación detiene su clave y pasa tus puntos a una nueva. Guárdala lejos de este equipo.</translation>
    </message>
    <message>
        <source>Change the recovery key</source>
        <translation>Cambiar la clave de recuperación</translation>
    </message>
    <message>
        <source>Passphrase of the file</source>
        <translation>Contraseña del archivo</translation>
    </message>
    <message>
        <source>The present recovery key</source>
        <translation>La clave de recuperación actual</translation>
    </message>
    <message>
        <source>The new one</source>
        <translation>La nueva</translation>
    </message>
    <message>
        <source>Store it as</source>
        <translation>Guardarla como</translation>
    </message>
    <message>
        <source>24 words</source>
        <translation>24 palabras</translation>
    </message>
    <message>
        <source>A file</source>
        <translation>Un archivo</translation>
    </message>
    <message>
        <source>The file is sealed under a passphrase. Put it on a USB stick or another computer.</source>
        <translation>El archivo se sella con una contraseña. Ponlo en una memoria USB o en otro equipo.</translation>
    </message>
    <message>
        <source>Save the file…</source>
        <translation>Guardar el archivo…</translation>
    </message>
    <message>
        <source>Show the words</source>
        <translation>Mostrar las palabras</translation>
    </message>
    <message>
        <source>I have written them down</source>
        <translation>Ya las anoté</translation>
    </message>
    <message>
        <source>Use this recovery key</source>
        <translation>Usar esta clave de recuperación</translation>
    </message>
    <message>
        <source>Save the recovery key</source>
        <translation>Guardar la clave de recuperación</translation>
    </message>
</context>
<context>
    <name>ReleaseService</name>
    <message>
        <source>Try again</source>
        <translation>Reintentar</translation>
    </message>
    <message>
        <source>Version {version} is ready, and starts the next time Tequio starts.</source>
        <translation>La versión {version} está lista y empezará la próxima vez que se abra Tequio.</translation>
    </message>
    <message>
        <source>Restart now</source>
        <translation>Reiniciar ahora</translation>
    </message>
    <message>
        <source>Before this computer can train, it needs a download of {size}, which takes {disk} on the disk.</source>
        <translation>Antes de entrenar, este ordenador necesita descargar {size}, que ocupan {disk} en el disco.</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>Descargar</translation>
    </message>
    <message>
        <source>Testing what was downloaded…</source>
        <translation>Probando lo descargado…</translation>
    </message>
    <message>
        <source>Downloading what training needs</source>
        <translation>Descargando lo que hace falta para entrenar</translation>
    </message>
    <message>
        <source>Downloading version {version}</source>
        <translation>Descargando la versión {version}</translation>
    </message>
    <message>
        <source>{what}: {done} of {total}</source>
        <translation>{what}: {done} de {total}</translation>
    </message>
    <message>
        <source>The updater stopped unexpectedly.</source>
        <translation>El actualizador se detuvo inesperadamente.</translation>
    </message>
    <message>
        <source>There is no newer version of Tequio yet.</source>
        <translation>Todavía no hay una versión más nueva de Tequio.</translation>
    </message>
</context>
<context>
    <name>ReplaceControl</name>
    <message>
        <source>Replace…</source>
        <translation>Reemplazar…</translation>
    </message>
</context>
<context>
    <name>ReplaceDialog</name>
    <message>
        <source>Replace this computer's key</source>
        <translation>Reemplazar la clave de este equipo</translation>
    </message>
    <message>
        <source>A new key takes over your points, standing, name and team. Do this if somebody else may have seen the key. It does not end a quarantine.</source>
        <translation>Una clave nueva recibe tus puntos, tu situación, tu nombre y tu afiliación. Hazlo si alguien más puede haber visto la clave. No pone fin a una cuarentena.</translation>
    </message>
    <message>
        <source>Replace the key</source>
        <translation>Reemplazar la clave</translation>
    </message>
    <message>
        <source>Passphrase of the file</source>
        <translation>Contraseña del archivo</translation>
    </message>
    <message>
        <source>Your recovery key</source>
        <translation>Tu clave de recuperación</translation>
    </message>
    <message>
        <source>I know that the present key can never be used again</source>
        <translation>Sé que la clave actual no podrá volver a usarse nunca</translation>
    </message>
    <message>
        <source>Afterwards, back up the new key: old backups become worthless.</source>
        <translation>Después, haz una copia de seguridad de la clave nueva: las copias anteriores ya no servirán.</translation>
    </message>
</context>
<context>
    <name>ResetButton</name>
    <message>
        <source>Reset all settings</source>
        <translation>Restablecer todos los ajustes</translation>
    </message>
    <message>
        <source>All settings have their defaults again.</source>
        <translation>Todos los ajustes tienen otra vez su valor por defecto.</translation>
    </message>
</context>
<context>
    <name>RestoreDialog</name>
    <message>
        <source>Restore a key</source>
        <translation>Restaurar una clave</translation>
    </message>
    <message>
        <source>With your earlier key you are the same volunteer, with the same points. Use it on one computer at a time. A key that is here now is kept aside.</source>
        <translation>Con tu clave anterior eres la misma persona voluntaria, con los mismos puntos. Úsala en un solo equipo a la vez. La clave que haya aquí se guarda aparte.</translation>
    </message>
    <message>
        <source>Restore</source>
        <translation>Restaurar</translation>
    </message>
    <message>
        <source>Passphrase of the backup</source>
        <translation>Contraseña de la copia</translation>
    </message>
    <message>
        <source>How it is kept here</source>
        <translation>Cómo se guarda aquí</translation>
    </message>
</context>
<context>
    <name>ResultCard</name>
    <message>
        <source>Result</source>
        <translation>Resultado</translation>
    </message>
    <message>
        <source>bits per byte and perplexity per byte, lower is better</source>
        <translation>bits por byte y perplejidad por byte, menos es mejor</translation>
    </message>
    <message>
        <source>The dot is the score. If other texts of the same kind had been drawn, it would lie within the bar 95 times in 100. Entrants that cannot be told apart share a place.</source>
        <translation>El punto es la puntuación. Si se hubieran sorteado otros textos de la misma clase, caería dentro de la barra 95 veces de cada 100. Quienes no se distinguen comparten puesto.</translation>
    </message>
    <message>
        <source>Check it yourself</source>
        <translation>Compruébalo por tu cuenta</translation>
    </message>
    <message>
        <source>The command that checks it</source>
        <translation>La orden que lo comprueba</translation>
    </message>
    <message>
        <source>Not ranked: too few of the drawn evaluators scored the entrants.</source>
        <translation>No hay clasificación: puntuaron muy pocos de los sorteados.</translation>
    </message>
</context>
<context>
    <name>ResultTable</name>
    <message>
        <source>Places</source>
        <translation>Puestos</translation>
    </message>
    <message>
        <source>{name}: not ranked</source>
        <translation>{name}: sin clasificar</translation>
    </message>
    <message>
        <source>Place {rank}, {name}: {score} bits per byte, between {low} and {high}; perplexity {perplexity} per byte</source>
        <translation>Puesto {rank}, {name}: {score} bits por byte, entre {low} y {high}; perplejidad {perplexity} por byte</translation>
    </message>
</context>
<context>
    <name>RoleCard</name>
    <message>
        <source>What this computer can do instead</source>
        <translation>Lo que este equipo puede hacer en su lugar</translation>
    </message>
    <message>
        <source>Role</source>
        <translation>Su papel</translation>
    </message>
    <message>
        <source>Witness (fits best)</source>
        <translation>Testigo (lo mejor)</translation>
    </message>
    <message>
        <source>Train on the processor</source>
        <translation>Entrenar en el procesador</translation>
    </message>
    <message>
        <source>Slower than any graphics card, and for small models only. Earns a few points.</source>
        <translation>Más lento que cualquier tarjeta gráfica, y solo para modelos pequeños. Da unos pocos puntos.</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>Automático</translation>
    </message>
    <message>
        <source>Both: trains the model, and checks the work of others.</source>
        <translation>Ambas cosas: entrena el modelo y comprueba el trabajo de otros.</translation>
    </message>
    <message>
        <source>Checks the work of others and signs what is correct. It trains nothing and uses little electricity.</source>
        <translation>Comprueba el trabajo de otros y firma lo que es correcto. No entrena nada y gasta poca electricidad.</translation>
    </message>
    <message>
        <source>Earns a small part of what training earns.</source>
        <translation>Gana una pequeña parte de lo que gana quien entrena.</translation>
    </message>
    <message>
        <source>All witnesses of a round share {percent} of what its trainers earn.</source>
        <translation>Todos los testigos de una ronda se reparten el {percent} de lo que ganan sus entrenadores.</translation>
    </message>
</context>
<context>
    <name>RoundCard</name>
    <message>
        <source>Round</source>
        <translation>Ronda</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>Entrenamiento</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>Pérdida</translation>
    </message>
    <message>
        <source>Bits per byte</source>
        <translation>Bits por byte</translation>
    </message>
    <message>
        <source>Perplexity</source>
        <translation>Perplejidad</translation>
    </message>
    <message>
        <source>The model and its data are fetched once; then the first round begins.</source>
        <translation>El modelo y sus datos se descargan una vez; después empieza la primera ronda.</translation>
    </message>
    <message>
        <source>Once this computer has joined a run, it trains round by round.</source>
        <translation>En cuanto se una a un entrenamiento, este equipo trabajará ronda a ronda.</translation>
    </message>
    <message>
        <source>Joining a run</source>
        <translation>Entrando en un entrenamiento</translation>
    </message>
    <message>
        <source>No round now</source>
        <translation>Ahora no hay ronda</translation>
    </message>
    <message>
        <source>of round</source>
        <translation>de la ronda</translation>
    </message>
    <message>
        <source>Trainer</source>
        <translation>Entrenador</translation>
    </message>
    <message>
        <source>Witness</source>
        <translation>Testigo</translation>
    </message>
    <message>
        <source>No role yet</source>
        <translation>Aún sin papel</translation>
    </message>
    <message>
        <source>Auditor</source>
        <translation>Auditor</translation>
    </message>
    <message>
        <source>Not taking part</source>
        <translation>No participa</translation>
    </message>
    <message>
        <source>Round {number} of {rounds}</source>
        <translation>Ronda {number} de {rounds}</translation>
    </message>
    <message>
        <source>Round {number}</source>
        <translation>Ronda {number}</translation>
    </message>
    <message numerus="yes">
        <source>%Ln peer(s)</source>
        <translation>
            <numerusform>%Ln par</numerusform>
            <numerusform>%Ln pares</numerusform>
        </translation>
    </message>
    <message>
        <source>{time} left</source>
        <translation>quedan {time}</translation>
    </message>
</context>
<context>
    <name>RoundDialog</name>
    <message>
        <source>{run}, round {number}</source>
        <translation>{run}, ronda {number}</translation>
    </message>
    <message>
        <source>Shared by others</source>
        <translation>Compartidos por otros</translation>
    </message>
    <message>
        <source>When</source>
        <translation>Cuándo</translation>
    </message>
    <message>
        <source>Points</source>
        <translation>Puntos</translation>
    </message>
    <message>
        <source>For training</source>
        <translation>Por entrenar</translation>
    </message>
    <message>
        <source>For checking others' work</source>
        <translation>Por comprobar el trabajo de otros</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Dispositivo</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Tokens</translation>
    </message>
    <message>
        <source>Energy</source>
        <translation>Energía</translation>
    </message>
    <message>
        <source>Ledger</source>
        <translation>Registro</translation>
    </message>
    <message>
        <source>Log entry</source>
        <translation>Entrada de la bitácora</translation>
    </message>
    <message>
        <source>Checkpoint, entries</source>
        <translation>Punto de control, entradas</translation>
    </message>
    <message>
        <source>Checkpoint, root</source>
        <translation>Punto de control, raíz</translation>
    </message>
    <message>
        <source>What was checked here</source>
        <translation>Lo que se comprobó aquí</translation>
    </message>
    <message>
        <source>This computer fetched the end of the round from the ledger's public log, read in it what you get, and checked that it is in the log that the ledger has signed. Nobody can change or remove it later without that showing.</source>
        <translation>Este equipo descargó el final de la ronda de la bitácora pública del registro, leyó en él lo que recibes y comprobó que está en la bitácora que el registro firmó. Nadie puede cambiarlo ni quitarlo después sin que se note.</translation>
    </message>
    <message>
        <source>To check the whole ledger yourself, run:</source>
        <translation>Para comprobar tú el registro entero, ejecuta:</translation>
    </message>
    <message>
        <source>The command that checks it</source>
        <translation>La orden que lo comprueba</translation>
    </message>
    <message>
        <source>The round is not closed yet, or its end was not found in the ledger's signed log yet. Its points count when this computer has checked that.</source>
        <translation>La ronda aún no está cerrada, o su final todavía no se encontró en la bitácora firmada del registro. Sus puntos cuentan cuando este equipo lo haya comprobado.</translation>
    </message>
    <message>
        <source>This round gave no points, so there is nothing to prove.</source>
        <translation>Esta ronda no dio puntos, así que no hay nada que probar.</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Copiar</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Cerrar</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Copiado</translation>
    </message>
</context>
<context>
    <name>RoundsCard</name>
    <message>
        <source>Run</source>
        <translation>Entrenamiento</translation>
    </message>
    <message>
        <source>All runs</source>
        <translation>Todos los entrenamientos</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Dispositivo</translation>
    </message>
    <message>
        <source>All devices</source>
        <translation>Todos los dispositivos</translation>
    </message>
    <message>
        <source>Rounds</source>
        <translation>Rondas</translation>
    </message>
    <message>
        <source>Looking</source>
        <translation>Buscando</translation>
    </message>
    <message>
        <source>Reading the rounds of this key.</source>
        <translation>Se están leyendo las rondas de esta clave.</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Reintentar</translation>
    </message>
    <message>
        <source>Older rounds are read as you scroll.</source>
        <translation>Las rondas anteriores se leen al desplazarte.</translation>
    </message>
    <message>
        <source>Couldn't load the rounds</source>
        <translation>No se pudieron cargar las rondas</translation>
    </message>
    <message>
        <source>No round of that run was worked in on that device.</source>
        <translation>En ese dispositivo no se trabajó en ninguna ronda de ese entrenamiento.</translation>
    </message>
    <message>
        <source>No matches</source>
        <translation>Ninguna de estas</translation>
    </message>
    <message>
        <source>Each round that this computer takes part in will appear here, with what it gave and the proof.</source>
        <translation>Aquí aparecerá cada ronda en la que participe este equipo, con lo que dio y la prueba.</translation>
    </message>
    <message>
        <source>No round yet</source>
        <translation>Aún sin rondas</translation>
    </message>
</context>
<context>
    <name>RoundsRows</name>
    <message>
        <source>Round</source>
        <translation>Ronda</translation>
    </message>
    <message>
        <source>When</source>
        <translation>Cuándo</translation>
    </message>
    <message>
        <source>State</source>
        <translation>Estado</translation>
    </message>
    <message>
        <source>Device, tokens</source>
        <translation>Dispositivo, tokens</translation>
    </message>
    <message>
        <source>Energy</source>
        <translation>Energía</translation>
    </message>
    <message>
        <source>Points</source>
        <translation>Puntos</translation>
    </message>
    <message>
        <source>Proof</source>
        <translation>Prueba</translation>
    </message>
    <message>
        <source>Round {number}</source>
        <translation>Ronda {number}</translation>
    </message>
    <message>
        <source>{count} tokens</source>
        <translation>{count} tokens</translation>
    </message>
    <message>
        <source>{points} as witness</source>
        <translation>{points} como testigo</translation>
    </message>
    <message>
        <source>Proof checked by this computer: open to see what that means</source>
        <translation>Prueba comprobada por este equipo: ábrela para ver qué significa</translation>
    </message>
    <message>
        <source>No proof was checked yet</source>
        <translation>Aún no se ha comprobado ninguna prueba</translation>
    </message>
</context>
<context>
    <name>RulesCard</name>
    <message>
        <source>Rules</source>
        <translation>Reglas</translation>
    </message>
    <message>
        <source>What an entrant may use</source>
        <translation>Lo que puede usar un participante</translation>
    </message>
    <message>
        <source>Texts that nobody has seen</source>
        <translation>Textos que nadie ha visto</translation>
    </message>
    <message>
        <source>How it is scored</source>
        <translation>Cómo se puntúa</translation>
    </message>
    <message>
        <source>Why it can be believed</source>
        <translation>Por qué es de fiar</translation>
    </message>
    <message>
        <source>Training data</source>
        <translation>Datos de entrenamiento</translation>
    </message>
    <message>
        <source>Rules about training data</source>
        <translation>Reglas sobre los datos de entrenamiento</translation>
    </message>
    <message>
        <source>How many bits a model needs for each byte of the texts: fewer are better. Perplexity per byte is 2 to the power of these bits, and gives the same ranking. A model reads {window} tokens at a time, {stride} of them new. Entrants that cannot be told apart share a place.</source>
        <translation>Cuántos bits necesita un modelo por cada byte de los textos: cuantos menos, mejor. La perplejidad por byte es 2 elevado a esos bits y da el mismo orden. Un modelo lee {window} tokens cada vez, {stride} de ellos nuevos. Los participantes que nada distingue comparten puesto.</translation>
    </message>
    <message>
        <source>{evaluators} computers that are not involved in any entry are drawn by lot to score. For each text the median score counts, so one dishonest evaluator changes nothing, and everything is in the log.</source>
        <translation>Se sortean {evaluators} equipos ajenos a los participantes para que puntúen. De cada texto cuenta la puntuación central, así que un mentiroso entre ellos no mueve nada, y todo queda en la bitácora.</translation>
    </message>
    <message>
        <source>What may be trained on is written at this address:</source>
        <translation>Con qué se puede entrenar está escrito en esta dirección:</translation>
    </message>
    <message>
        <source>These rules say nothing about what may be trained on.</source>
        <translation>Estas reglas no dicen nada sobre con qué se puede entrenar.</translation>
    </message>
    <message>
        <source>A model has at most {count} parameters.</source>
        <translation>Un modelo tiene como mucho {count} parámetros.</translation>
    </message>
    <message>
        <source>Its run may train on {count} tokens.</source>
        <translation>Su entrenamiento puede usar {count} tokens.</translation>
    </message>
    <message numerus="yes">
        <source>It has %n hour(s) from the opening of its run.</source>
        <translation>
            <numerusform>Tiene %n hora desde la apertura de su entrenamiento.</numerusform>
            <numerusform>Tiene %n horas desde la apertura de su entrenamiento.</numerusform>
        </translation>
    </message>
    <message>
        <source>Size, tokens and time have no limit.</source>
        <translation>Todo lo que quiera: tamaño, tokens y tiempo no tienen límite.</translation>
    </message>
    <message>
        <source>{texts} texts, {size}, were sealed before the competition was opened. Only after the deadline are {drawn} of them drawn by lot.</source>
        <translation>{texts} textos, {size}, se sellaron antes de abrir la competición. Solo después del cierre se sortean {drawn} de ellos.</translation>
    </message>
    <message>
        <source>One person alone holds the key to them and has to be trusted.</source>
        <translation>Una sola persona tiene la clave, y hay que fiarse de ella.</translation>
    </message>
    <message>
        <source>The key to them is shared among {custodians} custodians; {needed} have to act together to open them.</source>
        <translation>La clave está repartida entre {custodians} custodios; {needed} tienen que actuar juntos para abrirlos.</translation>
    </message>
</context>
<context>
    <name>RunChat</name>
    <message>
        <source>Try the model</source>
        <translation>Probar el modelo</translation>
    </message>
    <message>
        <source>Opens {address} in the browser. It is a service of the organisers: nothing that it writes is checked by the network.</source>
        <translation>Abre {address} en el navegador. Es un servicio de los organizadores: la red no comprueba nada de lo que escribe.</translation>
    </message>
</context>
<context>
    <name>RunChoice</name>
    <message>
        <source>Rounds done</source>
        <translation>Rondas hechas</translation>
    </message>
    <message>
        <source>Yours</source>
        <translation>Tuyo</translation>
    </message>
    <message>
        <source>Ended</source>
        <translation>Terminado</translation>
    </message>
    <message>
        <source>Chosen</source>
        <translation>Elegido</translation>
    </message>
    <message>
        <source>Full</source>
        <translation>Lleno</translation>
    </message>
    <message>
        <source>Round {number} of {rounds}</source>
        <translation>Ronda {number} de {rounds}</translation>
    </message>
    <message>
        <source>Round {number}</source>
        <translation>Ronda {number}</translation>
    </message>
    <message numerus="yes">
        <source>%Ln volunteer(s)</source>
        <translation>
            <numerusform>%Ln voluntario</numerusform>
            <numerusform>%Ln voluntarios</numerusform>
        </translation>
    </message>
    <message>
        <source>{members} of {most} volunteers</source>
        <translation>{members} de {most} voluntarios</translation>
    </message>
</context>
<context>
    <name>RunCode</name>
    <message>
        <source>This run brings its own code: {name} {version} ({hash}).</source>
        <translation>Este entrenamiento trae su propio código: {name} {version} ({hash}).</translation>
    </message>
    <message>
        <source>You allowed it.</source>
        <translation>Lo permitiste.</translation>
    </message>
    <message>
        <source>It needs your consent before it trains here.</source>
        <translation>Necesita tu consentimiento antes de entrenar aquí.</translation>
    </message>
</context>
<context>
    <name>RunDetail</name>
    <message>
        <source>What joining means</source>
        <translation>Qué significa entrar</translation>
    </message>
    <message>
        <source>Join this run</source>
        <translation>Entrar en este</translation>
    </message>
    <message>
        <source>Stay on this run</source>
        <translation>Seguir en este</translation>
    </message>
    <message>
        <source>What it needs</source>
        <translation>Lo que necesita</translation>
    </message>
    <message>
        <source>Choose for me</source>
        <translation>Elige por mí</translation>
    </message>
    <message>
        <source>Tequio takes an open run that fits your device, your disk and the month's traffic; of several, the one with the most places free. When it ends, the next one is chosen the same way.</source>
        <translation>Tequio toma un entrenamiento abierto que vaya con tu dispositivo, tu disco y el tráfico del mes; si hay varios, el que tiene más lugares libres. Cuando termina, el siguiente se elige igual.</translation>
    </message>
    <message>
        <source>Tequio chooses for you</source>
        <translation>Tequio elige por ti</translation>
    </message>
    <message>
        <source>This computer works for {run} now.</source>
        <translation>Este equipo trabaja ahora para {run}.</translation>
    </message>
    <message>
        <source>Chosen</source>
        <translation>Elegido</translation>
    </message>
    <message>
        <source>Ended</source>
        <translation>Terminado</translation>
    </message>
    <message>
        <source>Take back my consent</source>
        <translation>Retirar mi consentimiento</translation>
    </message>
    <message>
        <source>Allow its code…</source>
        <translation>Permitir su código…</translation>
    </message>
    <message>
        <source>This computer is in this run.</source>
        <translation>Este equipo está en este entrenamiento.</translation>
    </message>
    <message>
        <source>This run has ended. Its model and its log stay where they are.</source>
        <translation>Este entrenamiento terminó. Su modelo y su bitácora se quedan donde están.</translation>
    </message>
    <message>
        <source>All places are taken. If you join, you wait until one is free.</source>
        <translation>Todos los lugares están ocupados. Quien entra espera hasta que haya uno libre.</translation>
    </message>
    <message>
        <source>Open to everyone whose device fits.</source>
        <translation>Abierto a todo el que tenga un dispositivo adecuado.</translation>
    </message>
    <message>
        <source>Joining downloads {first} once. While training, it uploads about {up} and downloads about {down} per hour; less while paused.</source>
        <translation>Al entrar se descargan {first} una sola vez. Mientras entrena, cada hora suben unos {up} y bajan unos {down}; menos mientras está en pausa.</translation>
    </message>
    <message>
        <source>After a day it uses about {disk} on the disk, or your storage limit.</source>
        <translation>Tras un día usa unos {disk} del disco, o tu límite de almacenamiento.</translation>
    </message>
    <message>
        <source>This computer would earn about {points} points a day.</source>
        <translation>Este ordenador ganaría unos {points} puntos al día.</translation>
    </message>
    <message>
        <source>The {left} left this month will not last for a day of lending.</source>
        <translation>Los {left} que quedan este mes no alcanzan para un día de préstamo.</translation>
    </message>
    <message numerus="yes">
        <source>The {left} left this month last for about %n day(s) of lending.</source>
        <translation>
            <numerusform>Los {left} que quedan este mes alcanzan para cerca de %n día de préstamo.</numerusform>
            <numerusform>Los {left} que quedan este mes alcanzan para cerca de %n días de préstamo.</numerusform>
        </translation>
    </message>
    <message>
        <source>Something here is less than this run needs, so this computer would wait. Raise a limit, or choose a run that fits.</source>
        <translation>Algo aquí es menos de lo que este entrenamiento necesita, así que este equipo esperaría. Sube un límite o elige un entrenamiento adecuado.</translation>
    </message>
    <message>
        <source>Your bandwidth limit is less than this run needs: some rounds may end without your work. Raise it in Settings, Network, or choose a run that fits.</source>
        <translation>Tu límite para la línea es menor de lo que este entrenamiento necesita: algunas rondas pueden terminar sin tu trabajo. Súbelo en Ajustes, Red, o elige un entrenamiento adecuado.</translation>
    </message>
    <message>
        <source>You chose this run. It stays chosen until you choose another.</source>
        <translation>Elegiste este entrenamiento. Sigue elegido hasta que elijas otro.</translation>
    </message>
    <message>
        <source>Tequio chose it for you, and may choose another when this one ends.</source>
        <translation>Tequio lo eligió por ti, y puede elegir otro cuando este termine.</translation>
    </message>
    <message>
        <source>Joining leaves the run that you are in now; your points stay yours.</source>
        <translation>Al entrar dejas el entrenamiento en el que estás; tus puntos siguen siendo tuyos.</translation>
    </message>
    <message numerus="yes">
        <source>This run needs {needed} of memory, and this computer lends {most}. One computer with %n card(s) like this one could train it: start a worker there by {command}.</source>
        <translation>
            <numerusform>Esta ejecución necesita {needed} de memoria y este ordenador presta {most}. Un ordenador con %n tarjeta gráfica como esta podría entrenarla: inicia allí el programa de trabajo ({command}).</numerusform>
            <numerusform>Esta ejecución necesita {needed} de memoria y este ordenador presta {most}. Un ordenador con %n tarjetas gráficas como esta podría entrenarla: inicia allí el programa de trabajo ({command}).</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>This run needs {needed} of memory, and this computer lends {most}. %n computer(s) like this one could train it together: open a cell with others in your network by {command}.</source>
        <translation>
            <numerusform>Esta ejecución necesita {needed} de memoria y este ordenador presta {most}. %n ordenador como este podría entrenarla: abre una célula con otras personas de tu red ({command}).</numerusform>
            <numerusform>Esta ejecución necesita {needed} de memoria y este ordenador presta {most}. %n ordenadores como este podrían entrenarla juntos: abre una célula con otras personas de tu red ({command}).</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RunFigures</name>
    <message>
        <source>Parameters</source>
        <translation>Parámetros</translation>
    </message>
    <message>
        <source>Tokens trained</source>
        <translation>Tokens entrenados</translation>
    </message>
    <message>
        <source>Round</source>
        <translation>Ronda</translation>
    </message>
    <message>
        <source>Volunteers</source>
        <translation>Voluntarios</translation>
    </message>
    <message>
        <source>{count} parameters</source>
        <translation>{count} parámetros</translation>
    </message>
    <message>
        <source>{count} parameters; {trained} of them are adapters, and trained</source>
        <translation>{count} parámetros; de ellos, {trained} son adaptadores y se entrenan</translation>
    </message>
</context>
<context>
    <name>RunNeeds</name>
    <message>
        <source>Learns from: {source}</source>
        <translation>Aprende de: {source}</translation>
    </message>
    <message>
        <source>Licence of the model: {licence}</source>
        <translation>Licencia del modelo: {licence}</translation>
    </message>
    <message>
        <source>Opened by: {keys}</source>
        <translation>Abierto por: {keys}</translation>
    </message>
    <message>
        <source>From the organisers: {text}</source>
        <translation>De los organizadores: {text}</translation>
    </message>
    <message>
        <source>Paused: {text}</source>
        <translation>En pausa: {text}</translation>
    </message>
    <message>
        <source>Graphics memory</source>
        <translation>Memoria gráfica</translation>
    </message>
    <message>
        <source>No limit set</source>
        <translation>Sin límite fijado</translation>
    </message>
    <message>
        <source>Not known here</source>
        <translation>Aquí no se sabe</translation>
    </message>
    <message>
        <source>of {most} on {device}</source>
        <translation>de {most} en {device}</translation>
    </message>
    <message>
        <source>Fits</source>
        <translation>Alcanza</translation>
    </message>
    <message>
        <source>Just fits</source>
        <translation>Cabe justo</translation>
    </message>
    <message>
        <source>Does not fit</source>
        <translation>No cabe</translation>
    </message>
    <message>
        <source>Not known yet</source>
        <translation>Aún no se sabe</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Memoria</translation>
    </message>
    <message>
        <source>of {most} free</source>
        <translation>de {most} que están libres</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>Disco</translation>
    </message>
    <message>
        <source>of {most} your limits allow</source>
        <translation>de {most} que dejan tus límites</translation>
    </message>
    <message>
        <source>First download</source>
        <translation>Primera descarga</translation>
    </message>
    <message>
        <source>of {most} left this month</source>
        <translation>de {most} que quedan este mes</translation>
    </message>
    <message>
        <source>Upload per hour</source>
        <translation>Subida por hora</translation>
    </message>
    <message>
        <source>of {most} your limit allows</source>
        <translation>de {most} según tu límite</translation>
    </message>
    <message>
        <source>Download per hour</source>
        <translation>Descarga por hora</translation>
    </message>
</context>
<context>
    <name>RunNewsCard</name>
    <message>
        <source>Choose the next run</source>
        <translation>Elegir el próximo entrenamiento</translation>
    </message>
    <message>
        <source>Chat with the model</source>
        <translation>Chatear con el modelo</translation>
    </message>
    <message>
        <source>See the run's page</source>
        <translation>Ver la página del entrenamiento</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>Descartar</translation>
    </message>
    <message>
        <source>No other open run fits this computer now. Tequio keeps looking.</source>
        <translation>Ahora ningún otro entrenamiento abierto es apto para este equipo. Tequio sigue buscando.</translation>
    </message>
    <message>
        <source>Open runs that fit this computer: {names}.</source>
        <translation>Entrenamientos abiertos aptos para este equipo: {names}.</translation>
    </message>
</context>
<context>
    <name>RunNewsTexts</name>
    <message>
        <source>{run} went back to round {round}</source>
        <translation>{run} volvió a la ronda {round}</translation>
    </message>
    <message>
        <source>{run} is complete</source>
        <translation>{run} está completo</translation>
    </message>
    <message>
        <source>{run} has ended</source>
        <translation>{run} ha terminado</translation>
    </message>
    <message>
        <source>In this network you are #{rank} of {ranked}.</source>
        <translation>En esta red ocupas el puesto {rank} de {ranked}.</translation>
    </message>
    <message>
        <source>Its organisers gave up the rounds after that one, and training goes on from there. Your points stay yours.</source>
        <translation>Sus organizadores descartaron las rondas posteriores, y el entrenamiento continúa desde ahí. Tus puntos siguen siendo tuyos.</translation>
    </message>
    <message>
        <source>It reached its last round, {round}.</source>
        <translation>Llegó a su última ronda, la {round}.</translation>
    </message>
    <message>
        <source>It ended after {round} of {rounds} rounds.</source>
        <translation>Terminó tras {round} de {rounds} rondas.</translation>
    </message>
    <message>
        <source>It ended after round {round}.</source>
        <translation>Terminó tras la ronda {round}.</translation>
    </message>
    <message>
        <source>Its model went from {first} to {last} bits per byte of unseen text, or from perplexity {before} to {after} per byte.</source>
        <translation>Su modelo pasó de {first} a {last} bits por byte en textos que no ha visto, o de una perplejidad de {before} a {after} por byte.</translation>
    </message>
    <message>
        <source>You earned {points} points in it.</source>
        <translation>Ganaste {points} puntos en él.</translation>
    </message>
    <message numerus="yes">
        <source>You earned {points} points in %Ln accepted round(s).</source>
        <translation>
            <numerusform>Ganaste {points} puntos en %Ln ronda aceptada.</numerusform>
            <numerusform>Ganaste {points} puntos en %Ln rondas aceptadas.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RunPublished</name>
    <message>
        <source>Published heads</source>
        <translation>Modelos publicados</translation>
    </message>
</context>
<context>
    <name>RunStep</name>
    <message>
        <source>What would you like to train?</source>
        <translation>¿Qué te gustaría entrenar?</translation>
    </message>
    <message>
        <source>A run is one model that many train together. You can switch at any time.</source>
        <translation>Un entrenamiento es un modelo que muchos entrenan juntos. Puedes cambiarlo cuando quieras.</translation>
    </message>
    <message>
        <source>The network is not answering, so its runs cannot be listed. You can go on: Tequio keeps trying, and joins the run that fits this computer best.</source>
        <translation>La red no responde, así que no se pueden listar sus entrenamientos. Puedes seguir: Tequio sigue intentándolo y se unirá al entrenamiento que mejor convenga a este equipo.</translation>
    </message>
    <message>
        <source>Recommended</source>
        <translation>Recomendado</translation>
    </message>
    <message>
        <source>The open run that fits this computer and needs it most.</source>
        <translation>El entrenamiento abierto que va con este equipo y más lo necesita.</translation>
    </message>
    <message>
        <source>Choose for me</source>
        <translation>Elige por mí</translation>
    </message>
    <message>
        <source>Full</source>
        <translation>Lleno</translation>
    </message>
    <message numerus="yes">
        <source>%Ln volunteer(s)</source>
        <translation>
            <numerusform>%Ln voluntario</numerusform>
            <numerusform>%Ln voluntarios</numerusform>
        </translation>
    </message>
    <message>
        <source>{memory} of memory</source>
        <translation>{memory} de memoria</translation>
    </message>
    <message>
        <source>{data} to download once</source>
        <translation>{data} por descargar una vez</translation>
    </message>
    <message>
        <source>{data} up per hour</source>
        <translation>{data} de subida por hora</translation>
    </message>
    <message>
        <source>round {number} of {rounds}</source>
        <translation>ronda {number} de {rounds}</translation>
    </message>
</context>
<context>
    <name>RunWriting</name>
    <message>
        <source>What the model writes</source>
        <translation>Lo que escribe el modelo</translation>
    </message>
    <message>
        <source>Held-out text</source>
        <translation>Texto reservado</translation>
    </message>
    <message>
        <source>The model continues</source>
        <translation>El modelo continúa</translation>
    </message>
    <message>
        <source>After round {number}. Generated by the model; not anyone's opinion.</source>
        <translation>Tras la ronda {number}. Generado por el modelo; no es la opinión de nadie.</translation>
    </message>
    <message>
        <source>Nothing: to the model the text ends there.</source>
        <translation>Nada: para el modelo el texto termina ahí.</translation>
    </message>
</context>
<context>
    <name>RunsPage</name>
    <message>
        <source>Runs</source>
        <translation>Entrenamientos</translation>
    </message>
    <message>
        <source>Each run trains one model, round by round.</source>
        <translation>Cada entrenamiento forma un modelo, ronda a ronda.</translation>
    </message>
    <message>
        <source>Runs to choose from</source>
        <translation>Entrenamientos para elegir</translation>
    </message>
    <message>
        <source>Join a network…</source>
        <translation>Unirse a una red…</translation>
    </message>
    <message>
        <source>Each run trains one model, round by round. Updated {ago}.</source>
        <translation>Cada entrenamiento forma un modelo, ronda a ronda. Lista leída {ago}.</translation>
    </message>
    <message>
        <source>The run that you chose is open, but its rules could not be read, so it is not in this list. Tequio keeps trying.</source>
        <translation>El entrenamiento que elegiste está abierto, pero no se pudieron leer sus reglas, así que no está en esta lista. Tequio seguirá intentándolo.</translation>
    </message>
    <message>
        <source>The run that you chose is no longer open, so Tequio chooses for you.</source>
        <translation>El entrenamiento que elegiste ya no está abierto, así que Tequio elige por ti.</translation>
    </message>
    <message>
        <source>No run is open now. Tequio keeps looking and joins when one opens: there is nothing to do.</source>
        <translation>Ahora no hay ningún entrenamiento abierto. Tequio sigue buscando y entra cuando se abra uno: no tienes que hacer nada.</translation>
    </message>
    <message>
        <source>No network yet</source>
        <translation>Sin red todavía</translation>
    </message>
    <message>
        <source>Runs belong to a network. Choose one with Join a network.</source>
        <translation>Los entrenamientos pertenecen a una red. Elige una con «Unirse a una red».</translation>
    </message>
    <message>
        <source>The rules of the open runs could not be read. Tequio keeps trying.</source>
        <translation>No se pudieron leer las reglas de los entrenamientos abiertos. Tequio seguirá intentándolo.</translation>
    </message>
    <message>
        <source>Couldn't load the runs</source>
        <translation>No se pudieron cargar los entrenamientos</translation>
    </message>
    <message>
        <source>No run yet</source>
        <translation>Aún sin entrenamientos</translation>
    </message>
    <message>
        <source>{problem}. Tequio will keep trying.</source>
        <translation>{problem}. Tequio seguirá intentándolo.</translation>
    </message>
    <message>
        <source>Asking the network which runs there are.</source>
        <translation>Preguntando a la red qué entrenamientos hay.</translation>
    </message>
    <message>
        <source>Looking for runs</source>
        <translation>Buscando entrenamientos</translation>
    </message>
</context>
<context>
    <name>SamplePanel</name>
    <message>
        <source>Bits per byte</source>
        <translation>Bits por byte</translation>
    </message>
    <message>
        <source>Perplexity</source>
        <translation>Perplejidad</translation>
    </message>
    <message>
        <source>{name}: after round {number}</source>
        <translation>{name}: tras la ronda {number}</translation>
    </message>
    <message>
        <source>Nothing: to the model the text ends there.</source>
        <translation>Nada: para el modelo el texto termina ahí.</translation>
    </message>
    <message>
        <source>Nobody reported what this round's model writes.</source>
        <translation>Nadie comunicó lo que escribe el modelo de esta ronda.</translation>
    </message>
    <message>
        <source>{task}: {percent} of answers right ({chance} by guessing)</source>
        <translation>{task}: {percent} de respuestas correctas ({chance} al azar)</translation>
    </message>
    <message>
        <source>Worse than after round {number}</source>
        <translation>Peor que después de la ronda {number}</translation>
    </message>
    <message>
        <source>Measured, not worse</source>
        <translation>Medido, en orden</translation>
    </message>
    <message>
        <source>Too few members agree on these figures so far</source>
        <translation>Por ahora, muy pocos miembros coinciden en estas cifras</translation>
    </message>
</context>
<context>
    <name>SamplesCard</name>
    <message>
        <source>What the model writes</source>
        <translation>Lo que escribe el modelo</translation>
    </message>
    <message>
        <source>Earlier round</source>
        <translation>Ronda anterior</translation>
    </message>
    <message>
        <source>Beginning of a text that the model has never seen</source>
        <translation>Comienzo de un texto que el modelo nunca ha visto</translation>
    </message>
    <message>
        <source>Earlier</source>
        <translation>Antes</translation>
    </message>
    <message>
        <source>Newest</source>
        <translation>Más reciente</translation>
    </message>
    <message>
        <source>Each measure continues another text, so these two differ.</source>
        <translation>Cada medición continúa otro texto, por eso estos dos son distintos.</translation>
    </message>
    <message>
        <source>Bits per byte: how much of an unseen text the model cannot guess. Perplexity: roughly how many words it is choosing between. Lower is better for both. The texts are generated by the model; they are not anyone's opinion.</source>
        <translation>Bits por byte: cuánto de un texto que no ha visto no puede adivinar el modelo. Perplejidad: entre cuántas palabras duda, por así decirlo. En ambos casos, menos es mejor. Los textos los genera el modelo; no son la opinión de nadie.</translation>
    </message>
    <message>
        <source>The newest model, after round {number}, has not been measured yet. The chat uses it.</source>
        <translation>El modelo más reciente, después de la ronda {number}, aún no se ha medido. El chat lo usa.</translation>
    </message>
    <message>
        <source>Round {number}</source>
        <translation>Ronda {number}</translation>
    </message>
</context>
<context>
    <name>ScheduleStep</name>
    <message>
        <source>When may Tequio use this computer?</source>
        <translation>¿Cuándo puede Tequio usar este equipo?</translation>
    </message>
    <message>
        <source>Unless you change this in Settings, it stops for games, on battery and on metered networks, and aims for at most 80 °C where the device reports its temperature.</source>
        <translation>Si no lo cambias en Ajustes, se detiene con juegos, con batería y en redes de uso medido, y procura no pasar de 80 °C si el dispositivo indica su temperatura.</translation>
    </message>
    <message>
        <source>When to lend</source>
        <translation>Cuándo prestar</translation>
    </message>
    <message>
        <source>Gentle</source>
        <translation>Suave</translation>
    </message>
    <message>
        <source>After 15 minutes without input. Films pause it too.</source>
        <translation>Tras 15 minutos sin actividad. Las películas también lo pausan.</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>Equilibrado</translation>
    </message>
    <message>
        <source>After 5 minutes without input. This suits most people.</source>
        <translation>Tras 5 minutos sin actividad. Va bien para la mayoría.</translation>
    </message>
    <message>
        <source>Max</source>
        <translation>Máximo</translation>
    </message>
    <message>
        <source>After 1 minute, and at 30% of the time while you use it.</source>
        <translation>Tras 1 minuto, y el 30 % del tiempo mientras lo usas.</translation>
    </message>
    <message>
        <source>Start when I log in</source>
        <translation>Arrancar cuando inicio sesión</translation>
    </message>
    <message>
        <source>Starts minimised to the tray. Otherwise you have to start Tequio yourself.</source>
        <translation>Empieza minimizado en la bandeja. Si no, tendrás que iniciar Tequio a mano.</translation>
    </message>
</context>
<context>
    <name>SettingsPage</name>
    <message>
        <source>Sections</source>
        <translation>Secciones</translation>
    </message>
    <message>
        <source>Search settings</source>
        <translation>Buscar en los ajustes</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Buscar</translation>
    </message>
    <message>
        <source>No results</source>
        <translation>Sin resultados</translation>
    </message>
    <message>
        <source>No setting mentions these words.</source>
        <translation>Ningún ajuste tiene estas palabras en su título o su nota.</translation>
    </message>
</context>
<context>
    <name>SetupButton</name>
    <message>
        <source>Open setup</source>
        <translation>Abrir</translation>
    </message>
</context>
<context>
    <name>ShareDialog</name>
    <message>
        <source>Share</source>
        <translation>Compartir</translation>
    </message>
    <message>
        <source>Everyone can see this page. Chats and social networks show its picture beside the link.</source>
        <translation>Cualquiera puede ver esta página. Los chats y las redes sociales muestran su imagen junto al enlace.</translation>
    </message>
    <message>
        <source>Save the picture…</source>
        <translation>Guardar la imagen…</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Cerrar</translation>
    </message>
    <message>
        <source>Your points</source>
        <translation>Tus puntos</translation>
    </message>
    <message>
        <source>Your team</source>
        <translation>Tu equipo</translation>
    </message>
    <message>
        <source>Your run</source>
        <translation>Tu entrenamiento</translation>
    </message>
    <message>
        <source>Page</source>
        <translation>Página</translation>
    </message>
    <message>
        <source>Link</source>
        <translation>Enlace</translation>
    </message>
    <message>
        <source>Open the page</source>
        <translation>Abrir la página</translation>
    </message>
    <message>
        <source>Save the picture</source>
        <translation>Guardar la imagen</translation>
    </message>
    <message>
        <source>PNG picture (*.png)</source>
        <translation>Imagen PNG (*.png)</translation>
    </message>
    <message>
        <source>The picture is in {file}.</source>
        <translation>La imagen está en {file}.</translation>
    </message>
</context>
<context>
    <name>SideBar</name>
    <message>
        <source>Join a network…</source>
        <translation>Unirse a una red…</translation>
    </message>
</context>
<context>
    <name>SideRow</name>
    <message>
        <source>Submitted</source>
        <translation>Entregado</translation>
    </message>
    <message>
        <source>You earned {points} points for it</source>
        <translation>Has ganado {points} puntos para él</translation>
    </message>
    <message>
        <source>Yours</source>
        <translation>Tuyo</translation>
    </message>
    <message>
        <source>Chosen</source>
        <translation>Elegido</translation>
    </message>
    <message>
        <source>Round {number} of {rounds}</source>
        <translation>Ronda {number} de {rounds}</translation>
    </message>
    <message numerus="yes">
        <source>%Ln volunteer(s)</source>
        <translation>
            <numerusform>%Ln voluntario</numerusform>
            <numerusform>%Ln voluntarios</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SidesCard</name>
    <message>
        <source>Entrants</source>
        <translation>Participantes</translation>
    </message>
    <message>
        <source>training loss by round</source>
        <translation>pérdida por ronda</translation>
    </message>
    <message>
        <source>Training loss of each entrant by round</source>
        <translation>Pérdida de entrenamiento de cada participante por ronda</translation>
    </message>
    <message>
        <source>As the trainers report it. The winner is decided on texts that nobody has seen.</source>
        <translation>Según dicen quienes entrenan. Quién gana se decide con textos que nadie ha visto.</translation>
    </message>
    <message>
        <source>Entrants to choose from</source>
        <translation>Participantes que se pueden elegir</translation>
    </message>
    <message>
        <source>Nobody has entered yet.</source>
        <translation>Aún no participa nadie.</translation>
    </message>
    <message>
        <source>Models that were trained elsewhere: {names}</source>
        <translation>Modelos entrenados en otra parte: {names}</translation>
    </message>
    <message>
        <source>{name}: {loss} in round {number}</source>
        <translation>{name}: {loss} en la ronda {number}</translation>
    </message>
    <message>
        <source>No round has been closed yet. The curves begin with the first.</source>
        <translation>Aún no se ha cerrado ninguna ronda. Las curvas empiezan con la primera.</translation>
    </message>
    <message>
        <source>Couldn't load the curves: {problem}.</source>
        <translation>No se pudieron cargar las curvas: {problem}.</translation>
    </message>
    <message>
        <source>Asking the network how the entrants are doing.</source>
        <translation>Se pregunta al registro cómo van los participantes.</translation>
    </message>
</context>
<context>
    <name>SnoozeMenu</name>
    <message>
        <source>Snooze</source>
        <translation>Posponer</translation>
    </message>
    <message>
        <source>15 minutes</source>
        <translation>15 minutos</translation>
    </message>
    <message>
        <source>1 hour</source>
        <translation>1 hora</translation>
    </message>
    <message>
        <source>Until tomorrow</source>
        <translation>Hasta mañana</translation>
    </message>
    <message>
        <source>Until I close {game}</source>
        <translation>Hasta que cierre {game}</translation>
    </message>
    <message>
        <source>Until I close this game</source>
        <translation>Hasta que cierre este juego</translation>
    </message>
</context>
<context>
    <name>StandingChip</name>
    <message>
        <source>Not known yet</source>
        <translation>Aún no se sabe</translation>
    </message>
    <message>
        <source>Shown once this computer has joined the network.</source>
        <translation>Se muestra cuando este equipo ha entrado en la red.</translation>
    </message>
    <message>
        <source>Ended</source>
        <translation>Terminada</translation>
    </message>
    <message>
        <source>Log entry {entry} ended this key: it can do nothing more.</source>
        <translation>La entrada {entry} de la bitácora terminó esta clave: ya no puede hacer nada.</translation>
    </message>
    <message>
        <source>Excluded</source>
        <translation>Excluida</translation>
    </message>
    <message>
        <source>No round accepts your key now ({why}). Activity explains what you can do.</source>
        <translation>Ninguna ronda acepta tu clave ahora ({why}). Actividad explica qué puedes hacer.</translation>
    </message>
    <message>
        <source>New</source>
        <translation>Nueva</translation>
    </message>
    <message>
        <source>Ten accepted contributions make your key a full member.</source>
        <translation>Con diez contribuciones aceptadas tu clave es miembro pleno.</translation>
    </message>
    <message>
        <source>Good</source>
        <translation>Buena</translation>
    </message>
    <message>
        <source>Changed</source>
        <translation>Ha cambiado</translation>
    </message>
    <message>
        <source>Activity explains what has happened.</source>
        <translation>Actividad explica qué ha pasado.</translation>
    </message>
</context>
<context>
    <name>StatCard</name>
    <message>
        <source>{points} points</source>
        <translation>{points} puntos</translation>
    </message>
</context>
<context>
    <name>Stats</name>
    <message>
        <source>Points today</source>
        <translation>Puntos hoy</translation>
    </message>
    <message>
        <source>Total points</source>
        <translation>Puntos en total</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>Puesto</translation>
    </message>
    <message>
        <source>Energy today</source>
        <translation>Energía hoy</translation>
    </message>
    <message numerus="yes">
        <source>%n round(s) pending</source>
        <translation>
            <numerusform>%n ronda pendiente</numerusform>
            <numerusform>%n rondas pendientes</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing pending</source>
        <translation>Nada pendiente</translation>
    </message>
    <message>
        <source>About {points} a day</source>
        <translation>Unos {points} al día</translation>
    </message>
    <message>
        <source>{points} still to be checked</source>
        <translation>{points} por comprobar</translation>
    </message>
    <message>
        <source>Every proof checked here</source>
        <translation>Pruebas comprobadas aquí</translation>
    </message>
    <message>
        <source>None yet</source>
        <translation>Aún ninguno</translation>
    </message>
    <message numerus="yes">
        <source>of %Ln volunteer(s)</source>
        <translation>
            <numerusform>de %Ln voluntario</numerusform>
            <numerusform>de %Ln voluntarios</numerusform>
        </translation>
    </message>
    <message>
        <source>After your first verified round</source>
        <translation>Tras tu primera ronda verificada</translation>
    </message>
    <message>
        <source>Not measured here</source>
        <translation>Aquí no se mide</translation>
    </message>
    <message>
        <source>{energy} in total</source>
        <translation>{energy} en total</translation>
    </message>
    <message>
        <source>Estimated, {total}</source>
        <translation>Estimado, {total}</translation>
    </message>
</context>
<context>
    <name>TeamControl</name>
    <message>
        <source>Join or found…</source>
        <translation>Entrar o fundar…</translation>
    </message>
    <message>
        <source>Team {number}</source>
        <translation>Equipo {number}</translation>
    </message>
    <message>
        <source>Open…</source>
        <translation>Abrir…</translation>
    </message>
</context>
<context>
    <name>TeamDialog</name>
    <message>
        <source>Look at the team</source>
        <translation>Ver el equipo</translation>
    </message>
    <message>
        <source>Found the team</source>
        <translation>Fundar el equipo</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Cerrar</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Cancelar</translation>
    </message>
    <message>
        <source>Team</source>
        <translation>Equipo</translation>
    </message>
    <message>
        <source>What you earn in a team also counts for the team. What you earned for it stays with it when you leave.</source>
        <translation>Lo que ganas en un equipo cuenta también para el equipo. Lo que ganaste para él se queda en él cuando lo dejas.</translation>
    </message>
    <message>
        <source>Join the team “{team}”?</source>
        <translation>¿Entrar en el equipo «{team}»?</translation>
    </message>
    <message>
        <source>Its owner, {owner}, invites everyone who has this link.</source>
        <translation>Quien lo dirige, {owner}, invita a todos los que tengan este enlace.</translation>
    </message>
    <message>
        <source>Join the team</source>
        <translation>Unirse al equipo</translation>
    </message>
    <message numerus="yes">
        <source>%n member(s)</source>
        <translation>
            <numerusform>%n miembro</numerusform>
            <numerusform>%n miembros</numerusform>
        </translation>
    </message>
    <message>
        <source>{points} points so far</source>
        <translation>{points} puntos hasta ahora</translation>
    </message>
    <message>
        <source>Everyone can see that you are in the team, and what you earn for it.</source>
        <translation>Todos pueden ver que estás en el equipo y lo que ganas para él.</translation>
    </message>
    <message>
        <source>Your points stay yours. They also count for the team, from now on.</source>
        <translation>Tus puntos siguen siendo tuyos. A partir de ahora cuentan también para el equipo.</translation>
    </message>
    <message>
        <source>The owner can remove you; you can leave at any time.</source>
        <translation>Quien lo dirige puede expulsarte; tú puedes dejarlo cuando quieras.</translation>
    </message>
    <message>
        <source>You are in another team. Leave it before you join this one.</source>
        <translation>Estás en otro equipo. Déjalo antes de entrar en este.</translation>
    </message>
    <message>
        <source>You own this team.</source>
        <translation>Tú diriges este equipo.</translation>
    </message>
    <message>
        <source>Its owner is {owner}.</source>
        <translation>Lo dirige {owner}.</translation>
    </message>
    <message>
        <source>{points} points</source>
        <translation>{points} puntos</translation>
    </message>
    <message>
        <source>What you earned for the team stays with it.</source>
        <translation>Lo que ganaste para el equipo se queda en él.</translation>
    </message>
    <message>
        <source>The member that joined first becomes its owner.</source>
        <translation>El miembro más antiguo pasa a dirigirlo.</translation>
    </message>
    <message>
        <source>You are its last member: the team ends for good.</source>
        <translation>Eres su último miembro: el equipo termina para siempre.</translation>
    </message>
    <message>
        <source>Leave the team?</source>
        <translation>¿Dejar el equipo?</translation>
    </message>
    <message>
        <source>Leave the team</source>
        <translation>Dejar el equipo</translation>
    </message>
    <message>
        <source>Hand the team over to {name}?</source>
        <translation>¿Traspasar el equipo a {name}?</translation>
    </message>
    <message>
        <source>You stay a member, and cannot take the team back.</source>
        <translation>Sigues siendo miembro y no puedes recuperar la dirección.</translation>
    </message>
    <message>
        <source>Hand over</source>
        <translation>Traspasar</translation>
    </message>
    <message>
        <source>Remove {name} from the team?</source>
        <translation>¿Expulsar a {name} del equipo?</translation>
    </message>
    <message>
        <source>The join link stops working, as {name} has it. Points stay.</source>
        <translation>El enlace para entrar deja de servir, pues {name} lo tiene. Los puntos se quedan.</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Expulsar</translation>
    </message>
    <message>
        <source>Team {number}</source>
        <translation>Equipo {number}</translation>
    </message>
</context>
<context>
    <name>TimelineCard</name>
    <message>
        <source>Events to show</source>
        <translation>Sucesos que se muestran</translation>
    </message>
    <message>
        <source>All</source>
        <translation>Todo</translation>
    </message>
    <message>
        <source>Rounds</source>
        <translation>Rondas</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>Atención</translation>
    </message>
    <message>
        <source>Search in events</source>
        <translation>Buscar en los sucesos</translation>
    </message>
    <message>
        <source>Events</source>
        <translation>Sucesos</translation>
    </message>
    <message>
        <source>Looking</source>
        <translation>Buscando</translation>
    </message>
    <message>
        <source>Reading recent events.</source>
        <translation>Se está leyendo lo que pasó últimamente.</translation>
    </message>
    <message>
        <source>Couldn't load the events</source>
        <translation>No se pudieron cargar los eventos</translation>
    </message>
    <message>
        <source>Older events are being read.</source>
        <translation>Se están leyendo sucesos anteriores.</translation>
    </message>
    <message>
        <source>No matches</source>
        <translation>Ninguno de estos</translation>
    </message>
    <message>
        <source>No event fits the filter and the search.</source>
        <translation>Ningún suceso coincide con el filtro y la búsqueda.</translation>
    </message>
    <message>
        <source>Nothing happened yet</source>
        <translation>Aún no pasó nada</translation>
    </message>
    <message>
        <source>What this computer does for the swarm will be listed here.</source>
        <translation>Aquí aparecerá en frases lo que este equipo hace por el enjambre.</translation>
    </message>
</context>
<context>
    <name>Tray</name>
    <message>
        <source>Join a network…</source>
        <translation>Unirse a una red…</translation>
    </message>
    <message>
        <source>Open Tequio</source>
        <translation>Abrir Tequio</translation>
    </message>
    <message>
        <source>Quit – stops lending</source>
        <translation>Salir: deja de prestar</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>Salir</translation>
    </message>
    <message>
        <source>Contribute</source>
        <translation>Contribuir</translation>
    </message>
    <message>
        <source>Set up …</source>
        <translation>Configurar…</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pausar</translation>
    </message>
    <message>
        <source>Resume now</source>
        <translation>Seguir ya</translation>
    </message>
    <message>
        <source>Go on after this round</source>
        <translation>Seguir después de esta ronda</translation>
    </message>
    <message>
        <source>Finish round, then stop</source>
        <translation>Terminar la ronda y parar</translation>
    </message>
</context>
<context>
    <name>UndoToast</name>
    <message>
        <source>Undo</source>
        <translation>Deshacer</translation>
    </message>
</context>
<context>
    <name>UnlockDialog</name>
    <message>
        <source>Your key is sealed</source>
        <translation>Tu clave está sellada</translation>
    </message>
    <message>
        <source>Nothing is lent before you give its passphrase. It is kept until you quit.</source>
        <translation>No se presta nada antes de que escribas su contraseña. Se recuerda hasta que salgas.</translation>
    </message>
    <message>
        <source>Unlock</source>
        <translation>Abrir</translation>
    </message>
    <message>
        <source>Passphrase</source>
        <translation>Contraseña</translation>
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
        <translation>Subida</translation>
    </message>
    <message>
        <source>Traffic</source>
        <translation>Tráfico</translation>
    </message>
    <message>
        <source>Downloaded and uploaded this month, of your monthly limit</source>
        <translation>Descargado y subido este mes, de tu límite mensual</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>Disco</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Memoria</translation>
    </message>
    <message>
        <source>{used} of {most}</source>
        <translation>{used} de {most}</translation>
    </message>
</context>
<context>
    <name>UsedQuestion</name>
    <message>
        <source>While you use the computer, the device will be busy for {share} of the time. It gets louder and uses more power, and videos or scrolling may stutter. The rules for games and films still apply.</source>
        <translation>Mientras usas el equipo, el dispositivo estará ocupado el {share} del tiempo. Hace más ruido y gasta más, y los vídeos o el desplazamiento pueden ir a saltos. Las reglas para juegos y películas siguen vigentes.</translation>
    </message>
</context>
<context>
    <name>UsedSwitch</name>
    <message>
        <source>Lend while I use the computer</source>
        <translation>Prestar mientras uso el equipo</translation>
    </message>
</context>
<context>
    <name>WeekEditor</name>
    <message>
        <source>Hours in which to lend</source>
        <translation>Horas en que se presta</translation>
    </message>
    <message>
        <source>Hours</source>
        <translation>Horas</translation>
    </message>
    <message>
        <source>Always</source>
        <translation>Siempre</translation>
    </message>
    <message>
        <source>Nights</source>
        <translation>Noches</translation>
    </message>
    <message>
        <source>Outside office hours</source>
        <translation>Fuera del horario de oficina</translation>
    </message>
    <message>
        <source>Custom</source>
        <translation>A medida</translation>
    </message>
    <message>
        <source>No hour is selected, so nothing is ever lent.</source>
        <translation>No hay ninguna hora seleccionada, así que nunca se presta nada.</translation>
    </message>
    <message>
        <source>Hours changed.</source>
        <translation>Horas cambiadas.</translation>
    </message>
</context>
<context>
    <name>WeekGrid</name>
    <message>
        <source>may lend</source>
        <translation>puede prestar</translation>
    </message>
    <message>
        <source>does not lend</source>
        <translation>no presta</translation>
    </message>
</context>
<context>
    <name>WelcomeStep</name>
    <message>
        <source>Lend your idle computer to open models</source>
        <translation>Presta tu equipo inactivo a modelos abiertos</translation>
    </message>
    <message>
        <source>Tequio trains open language models on the computers of volunteers, while nobody needs them. Nothing is lent before you agree to it at the end.</source>
        <translation>Tequio entrena modelos de lenguaje abiertos en los equipos de voluntarios mientras nadie los necesita. No se presta nada hasta que digas que sí al final.</translation>
    </message>
    <message>
        <source>Stops when you play</source>
        <translation>Se detiene cuando juegas</translation>
    </message>
    <message>
        <source>Starting a game or going full screen stops it within seconds and frees all GPU memory.</source>
        <translation>Abrir un juego o poner la pantalla completa lo detiene en segundos y libera toda la memoria de la GPU.</translation>
    </message>
    <message>
        <source>Points you can check</source>
        <translation>Puntos que puedes comprobar</translation>
    </message>
    <message>
        <source>Each round gives compute points. Your computer checks every proof.</source>
        <translation>Cada ronda da puntos de cómputo. Tu equipo comprueba cada prueba.</translation>
    </message>
    <message>
        <source>Keeps to itself</source>
        <translation>No se mete en lo tuyo</translation>
    </message>
    <message>
        <source>It reads none of your files. Settings lists all that it sends.</source>
        <translation>No lee ninguno de tus archivos. En Ajustes está todo lo que envía.</translation>
    </message>
</context>
<context>
    <name>WordsGrid</name>
    <message>
        <source>The 24 words</source>
        <translation>Las 24 palabras</translation>
    </message>
    <message>
        <source>24 words, hidden</source>
        <translation>24 palabras, ocultas</translation>
    </message>
</context>
<context>
    <name>WorkerLogCard</name>
    <message>
        <source>Log of the worker</source>
        <translation>Bitácora del programa de trabajo</translation>
    </message>
    <message>
        <source>For troubleshooting. Copying adds what the app sees, but no key and no password.</source>
        <translation>Para encontrar fallas. Al copiar se agrega lo que ve la aplicación; ni claves ni contraseñas.</translation>
    </message>
    <message>
        <source>Last lines of the log</source>
        <translation>Últimas líneas de la bitácora</translation>
    </message>
    <message>
        <source>The worker has not logged anything yet.</source>
        <translation>El programa de trabajo aún no ha dicho nada.</translation>
    </message>
    <message>
        <source>Copy diagnostics</source>
        <translation>Copiar diagnóstico</translation>
    </message>
    <message>
        <source>Diagnostics copied: paste them into your report</source>
        <translation>Diagnóstico copiado: pégalo en tu informe</translation>
    </message>
</context>
<context>
    <name>WorkerProcess</name>
    <message>
        <source>The worker is not running.</source>
        <translation>Ahora no hay programa de trabajo.</translation>
    </message>
    <message>
        <source>The worker has ended.</source>
        <translation>El programa de trabajo terminó.</translation>
    </message>
    <message>
        <source>The worker failed {tries} times in a row, the last time so: {why}</source>
        <translation>El programa de trabajo falló {tries} veces seguidas; la última, así: {why}</translation>
    </message>
    <message>
        <source>{why} It is started again.</source>
        <translation>{why} Se vuelve a arrancar.</translation>
    </message>
</context>
<context>
    <name>checks</name>
    <message>
        <source>Graphics card</source>
        <translation>Tarjeta gráfica</translation>
    </message>
    <message>
        <source>Driver</source>
        <translation>Controlador</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>Disco</translation>
    </message>
    <message>
        <source>Network</source>
        <translation>Red</translation>
    </message>
    <message>
        <source>Looking…</source>
        <translation>Mirando…</translation>
    </message>
    <message>
        <source>Its probe has not answered. Tequio keeps asking; you can go on.</source>
        <translation>Su sonda no ha respondido. Tequio sigue preguntando; puedes continuar.</translation>
    </message>
    <message>
        <source>None that can train was found. {processor} with {cores} cores can help too.</source>
        <translation>No se encontró ninguna que pueda entrenar. {processor} con {cores} núcleos también puede ayudar.</translation>
    </message>
    <message>
        <source>{card} does not say how much memory it has.</source>
        <translation>{card} no dice cuánta memoria tiene.</translation>
    </message>
    <message>
        <source>{card} has {memory}: too little to train most models.</source>
        <translation>{card} tiene {memory}: muy poco para entrenar la mayoría de los modelos.</translation>
    </message>
    <message>
        <source>{card} with {memory}, of which at most {usable} are used.</source>
        <translation>{card} con {memory}, de los que se usan como mucho {usable}.</translation>
    </message>
    <message>
        <source>Its probe has not answered yet.</source>
        <translation>Su sonda aún no ha respondido.</translation>
    </message>
    <message>
        <source>None is needed for the processor.</source>
        <translation>Para el procesador no hace falta ninguno.</translation>
    </message>
    <message>
        <source>It does not say its version. The first start will show it.</source>
        <translation>No dice su versión. Se verá en el primer arranque.</translation>
    </message>
    <message>
        <source>Version {driver} is too old to train: install {oldest} or newer, then restart.</source>
        <translation>La versión {driver} es demasiado antigua para entrenar: instala {oldest} o más nueva y luego reinicia.</translation>
    </message>
    <message>
        <source>Version {driver} can train.</source>
        <translation>La versión {driver} puede entrenar.</translation>
    </message>
    <message>
        <source>It is not known how much is free.</source>
        <translation>Nadie sabe cuánto queda libre.</translation>
    </message>
    <message>
        <source>{free} GB are free. Tequio takes {store} GB at most, and {stays} stay free.</source>
        <translation>Hay {free} GB libres. Tequio toma {store} GB como mucho, y {stays} quedan libres.</translation>
    </message>
    <message>
        <source>{free} GB are free. {stays} stay free, so Tequio has {store} GB: some runs fit.</source>
        <translation>Hay {free} GB libres. {stays} quedan libres, así que Tequio tiene {store} GB: algunos entrenamientos caben.</translation>
    </message>
    <message>
        <source>Only {free} GB are free and {wanted} are needed, of which {stays} stay free: make room before lending.</source>
        <translation>Solo hay {free} GB libres y hacen falta {wanted}, de los que {stays} quedan libres: haz sitio antes de prestar.</translation>
    </message>
    <message>
        <source>You choose the network in step 5.</source>
        <translation>Eliges la red en el paso 5.</translation>
    </message>
    <message>
        <source>You join “{network}” by your invitation.</source>
        <translation>Te unes a «{network}» con tu invitación.</translation>
    </message>
    <message>
        <source>The network does not answer now. You can go on: Tequio keeps trying.</source>
        <translation>La red no responde ahora. Puedes seguir: Tequio sigue intentándolo.</translation>
    </message>
    <message>
        <source>The network answers. No run is open now; one will be joined.</source>
        <translation>La red responde. Ahora no hay ningún entrenamiento abierto; te unirás a uno cuando lo haya.</translation>
    </message>
    <message numerus="yes">
        <source>The network answers, and %n run(s) are open.</source>
        <translation>
            <numerusform>La red responde, y hay %n entrenamiento abierto.</numerusform>
            <numerusform>La red responde, y hay %n entrenamientos abiertos.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>competitions</name>
    <message>
        <source>Announced</source>
        <translation>Anunciada</translation>
    </message>
    <message>
        <source>Under way</source>
        <translation>En curso</translation>
    </message>
    <message>
        <source>Deadline over</source>
        <translation>Plazo vencido</translation>
    </message>
    <message>
        <source>Closed</source>
        <translation>Cerrada</translation>
    </message>
    <message>
        <source>Being opened</source>
        <translation>Abriéndose</translation>
    </message>
    <message>
        <source>Being scored</source>
        <translation>Puntuándose</translation>
    </message>
    <message>
        <source>Being checked</source>
        <translation>Revisándose</translation>
    </message>
    <message>
        <source>Decided</source>
        <translation>Decidida</translation>
    </message>
    <message>
        <source>No ranking</source>
        <translation>Sin clasificación</translation>
    </message>
    <message>
        <source>It has not begun yet. Join an entrant's run now to train from the start.</source>
        <translation>Aún no ha empezado. Entra ahora en el entrenamiento de un participante para entrenar desde el principio.</translation>
    </message>
    <message>
        <source>The entrants are training. The last submission of each before the deadline counts.</source>
        <translation>Los participantes entrenan. Cuenta lo último que cada uno entregue antes del cierre.</translation>
    </message>
    <message>
        <source>The deadline is over. The ledger closes the competition any moment.</source>
        <translation>El plazo ha vencido. El registro cierra la competición en cualquier momento.</translation>
    </message>
    <message>
        <source>Nothing can be submitted any more. Every volunteer evaluator draws a lot, which nobody can choose. The lots decide who scores, and on which texts.</source>
        <translation>Ya no se puede entregar nada. Quien se ofreció a puntuar saca un número de sorteo, que nadie puede elegir. Los números deciden quién puntúa y con qué textos.</translation>
    </message>
    <message>
        <source>The custodians reveal their parts of the key. Any {needed} of the {custodians} parts open the texts.</source>
        <translation>Los custodios muestran sus partes de la clave: {needed} de {custodians} abren los textos.</translation>
    </message>
    <message>
        <source>The texts are open. Evaluators, drawn by lot, score each entrant on them, and commit to their scores before anyone reveals any.</source>
        <translation>Los textos están abiertos. Evaluadores elegidos por sorteo puntúan con ellos a cada participante y se comprometen con sus puntuaciones antes de que nadie muestre ninguna.</translation>
    </message>
    <message>
        <source>Evaluators reveal the scores that they committed to. Until the result, anyone may score a model again and challenge a score.</source>
        <translation>Los evaluadores muestran las puntuaciones con las que se comprometieron. Hasta el resultado cualquiera puede volver a puntuar e impugnar una.</translation>
    </message>
    <message>
        <source>The result stands, and anyone can check it from the log alone.</source>
        <translation>El resultado es firme, y cualquiera puede comprobarlo solo con la bitácora.</translation>
    </message>
    <message>
        <source>It ended without a ranking: too few custodians revealed their parts of the key in time, or there was nobody to score.</source>
        <translation>Terminó sin clasificación: muy pocos custodios mostraron a tiempo su parte de la clave, o no había quien puntuara.</translation>
    </message>
    <message>
        <source>It ended without a ranking: too few of those who were drawn scored the entrants in time.</source>
        <translation>Terminó sin clasificación: muy pocos de los elegidos por sorteo puntuaron a los participantes a tiempo.</translation>
    </message>
    <message>
        <source>until it begins</source>
        <translation>hasta el comienzo</translation>
    </message>
    <message>
        <source>until the deadline</source>
        <translation>hasta el cierre</translation>
    </message>
    <message>
        <source>until the draw</source>
        <translation>hasta el sorteo</translation>
    </message>
    <message>
        <source>until all must be scored</source>
        <translation>para puntuar</translation>
    </message>
    <message>
        <source>until the result</source>
        <translation>hasta el resultado</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>Inicio</translation>
    </message>
    <message>
        <source>Deadline</source>
        <translation>Cierre</translation>
    </message>
    <message>
        <source>Draw</source>
        <translation>Sorteo</translation>
    </message>
    <message>
        <source>Scores</source>
        <translation>Puntuación</translation>
    </message>
    <message>
        <source>Result</source>
        <translation>Resultado</translation>
    </message>
</context>
<context>
    <name>figures</name>
    <message>
        <source>{used} of {most}</source>
        <translation>{used} de {most}</translation>
    </message>
    <message>
        <source>about what an {card} does in {time}</source>
        <translation>más o menos lo que hace una {card} en {time}</translation>
    </message>
    <message>
        <source>about {time} on an {card}</source>
        <translation>≈ {time} de una {card}</translation>
    </message>
    <message>
        <source>{n} s</source>
        <translation>{n} s</translation>
    </message>
    <message>
        <source>{n} min</source>
        <translation>{n} min</translation>
    </message>
    <message>
        <source>{n} h</source>
        <translation>{n} h</translation>
    </message>
    <message>
        <source>{n} days</source>
        <translation>{n} días</translation>
    </message>
    <message>
        <source>{number}%</source>
        <translation>{number} %</translation>
    </message>
    <message numerus="yes">
        <source>%n byte(s)</source>
        <translation>
            <numerusform>%n byte</numerusform>
            <numerusform>%n bytes</numerusform>
        </translation>
    </message>
    <message>
        <source>{rate} Mbit/s</source>
        <translation>{rate} Mbit/s</translation>
    </message>
    <message>
        <source>{days} d {hours} h</source>
        <translation>{days} d {hours} h</translation>
    </message>
    <message>
        <source>{hours} h {minutes} min</source>
        <translation>{hours} h {minutes} min</translation>
    </message>
    <message>
        <source>{minutes} min</source>
        <translation>{minutes} min</translation>
    </message>
    <message>
        <source>{seconds} s</source>
        <translation>{seconds} s</translation>
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
        <translation>{day} {month}</translation>
    </message>
    <message>
        <source>tomorrow {time}</source>
        <translation>mañana {time}</translation>
    </message>
    <message>
        <source>{weekday} {day} {month} {year}, {time}</source>
        <translation>{weekday} {day} {month} {year}, {time}</translation>
    </message>
    <message>
        <source>just now</source>
        <translation>justo ahora</translation>
    </message>
    <message>
        <source>{time} ago</source>
        <translation>hace {time}</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>Hoy</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>Ayer</translation>
    </message>
    <message>
        <source>{weekday} {day} {month}</source>
        <translation>{weekday} {day} de {month}</translation>
    </message>
    <message>
        <source>{weekday} {day} {month} {year}</source>
        <translation>{weekday} {day} de {month} de {year}</translation>
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
        <translation>Iniciando</translation>
    </message>
    <message>
        <source>The worker is being started.</source>
        <translation>El programa de trabajo está arrancando.</translation>
    </message>
    <message>
        <source>Pausing…</source>
        <translation>Pausando…</translation>
    </message>
    <message>
        <source>The device is given back at once.</source>
        <translation>El dispositivo se devuelve al instante.</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>Empezando…</translation>
    </message>
    <message>
        <source>Checking whether it's OK to start…</source>
        <translation>Comprobando si se puede empezar…</translation>
    </message>
    <message>
        <source>No connection</source>
        <translation>Sin conexión</translation>
    </message>
    <message>
        <source>Neither the network's ledger nor another computer answers. Tequio keeps trying; work that has begun goes on.</source>
        <translation>No responden ni el registro de la red ni ningún otro equipo. Tequio sigue intentándolo; el trabajo empezado continúa.</translation>
    </message>
</context>
<context>
    <name>health</name>
    <message>
        <source>Time without input</source>
        <translation>Tiempo sin actividad</translation>
    </message>
    <message>
        <source>Screen lock</source>
        <translation>Bloqueo de pantalla</translation>
    </message>
    <message>
        <source>Other users</source>
        <translation>Otros usuarios</translation>
    </message>
    <message>
        <source>Fullscreen programs</source>
        <translation>Programas a pantalla completa</translation>
    </message>
    <message>
        <source>Game mode</source>
        <translation>Modo de juego</translation>
    </message>
    <message>
        <source>Programs that run</source>
        <translation>Programas abiertos</translation>
    </message>
    <message>
        <source>Metered network</source>
        <translation>Red de uso medido</translation>
    </message>
    <message>
        <source>Graphics cards</source>
        <translation>Tarjetas gráficas</translation>
    </message>
    <message>
        <source>Processor load</source>
        <translation>Carga del procesador</translation>
    </message>
    <message>
        <source>Processor temperature</source>
        <translation>Temperatura del procesador</translation>
    </message>
    <message>
        <source>Main memory</source>
        <translation>Memoria principal</translation>
    </message>
    <message>
        <source>Battery</source>
        <translation>Batería</translation>
    </message>
    <message>
        <source>Power saving</source>
        <translation>Ahorro de energía</translation>
    </message>
    <message>
        <source>Without it, lending waits until the computer is locked. Lock it when you leave, or allow lending while you use it in Settings, When to lend.</source>
        <translation>Sin ella, el préstamo espera hasta que el equipo se bloquee. Bloquéalo cuando te vayas, o permite prestar mientras lo usas en Ajustes, Cuándo prestar.</translation>
    </message>
    <message>
        <source>Without it, only the time without input tells that you are away.</source>
        <translation>Sin ella, solo el tiempo sin actividad dice que no estás.</translation>
    </message>
    <message>
        <source>Without it, lending waits, since another user may be at the computer. Start Tequio again.</source>
        <translation>Sin ella, el préstamo espera, porque otro usuario podría estar usando el equipo. Arranca Tequio de nuevo.</translation>
    </message>
    <message>
        <source>Without it, lending waits until the computer is locked, unless you switch off pausing for games in Settings, When to lend.</source>
        <translation>Sin ella, el préstamo espera hasta que el equipo se bloquee, salvo que desactives la pausa con juegos en Ajustes, Cuándo prestar.</translation>
    </message>
    <message>
        <source>Games are still known by their launchers and by filling the screen. To have it, install GameMode.</source>
        <translation>Los juegos se reconocen aún por sus lanzadores y por llenar la pantalla. Para tenerla, instala GameMode.</translation>
    </message>
    <message>
        <source>Without it, your exclusive programs and games cannot be seen. Empty that list and switch off pausing for games in Settings, When to lend, or start Tequio again.</source>
        <translation>Sin ella no se ven tus programas exclusivos ni los juegos. Vacía esa lista y desactiva la pausa con juegos en Ajustes, Cuándo prestar, o arranca Tequio de nuevo.</translation>
    </message>
    <message>
        <source>Without it, large transfers wait. Allow metered networks in Settings, Network, if yours costs nothing.</source>
        <translation>Sin ella, las transferencias grandes esperan. Permite las redes de uso medido en Ajustes, Red, si la tuya no cuesta nada.</translation>
    </message>
    <message>
        <source>If such a card is in this computer, install or update its driver, then start the computer again.</source>
        <translation>Si este equipo tiene una tarjeta así, instala o actualiza su controlador y luego reinicia el equipo.</translation>
    </message>
    <message>
        <source>Lending goes on; only the processor's temperature goal cannot be kept.</source>
        <translation>El préstamo sigue; solo que no se puede cumplir la meta de temperatura del procesador.</translation>
    </message>
    <message>
        <source>If this computer has no battery, allow it in Settings, When to lend.</source>
        <translation>Si este equipo no tiene batería, permítelo en Ajustes, Cuándo prestar.</translation>
    </message>
    <message>
        <source>If you never save power, allow lending while power is saved in Settings, When to lend.</source>
        <translation>Si nunca ahorras energía, permite prestar con el ahorro de energía activo en Ajustes, Cuándo prestar.</translation>
    </message>
    <message>
        <source>Start Tequio again. If that does not help, copy the diagnostics and report it.</source>
        <translation>Arranca Tequio de nuevo. Si eso no ayuda, copia el diagnóstico e infórmalo.</translation>
    </message>
</context>
<context>
    <name>judging</name>
    <message>
        <source>It takes {memory} of memory</source>
        <translation>Ocupa {memory} de memoria</translation>
    </message>
    <message>
        <source>It takes memory, about five bytes for each parameter of a model</source>
        <translation>Ocupa memoria, unos cinco bytes por cada parámetro de un modelo</translation>
    </message>
    <message>
        <source>{takes}, and some minutes of computing for each model when the texts are open, by the same rules as training. Evaluators cannot win with an entry of their own, nor judge a run that they trained in.</source>
        <translation>{takes}, y unos minutos de cálculo por cada modelo cuando se abren los textos, con las mismas reglas que el entrenamiento. Quien evalúa no puede ganar con una inscripción propia, ni evaluar un entrenamiento en el que ha participado.</translation>
    </message>
    <message>
        <source>You help to judge: this computer makes its offer within a minute or two.</source>
        <translation>Ayudas a evaluar: este equipo hará su oferta en uno o dos minutos.</translation>
    </message>
    <message>
        <source>Volunteers, drawn by lot, decide the winner: their computers score every model on the sealed texts. Yours can be one of them.</source>
        <translation>Quién gana lo deciden voluntarios elegidos por sorteo, cuyos equipos puntúan cada modelo con los textos sellados. El tuyo puede ser uno de ellos.</translation>
    </message>
    <message>
        <source>You were drawn, but judging is switched off: {done} of {models} models are scored. Switch it on, or the scores of this computer will be missing.</source>
        <translation>Te ha tocado, y la evaluación está desactivada: {done} de {models} modelos están puntuados. Actívala, o los demás tendrán que seguir sin ti.</translation>
    </message>
    <message>
        <source>You were drawn: {done} of {models} models are scored. It goes on when this computer may lend and the round under way is over.</source>
        <translation>Te ha tocado: {done} de {models} modelos están puntuados. Sigue cuando este equipo pueda prestar y la ronda en curso haya terminado.</translation>
    </message>
    <message>
        <source>Scoring: {done} of {models} models are done. The next one is made ready.</source>
        <translation>Puntuando: {done} de {models} modelos están hechos. Se prepara el siguiente.</translation>
    </message>
    <message>
        <source>Scoring: {done} of {models} models are done; {documents} of {texts} texts of {name}.</source>
        <translation>Puntuando: {done} de {models} modelos están hechos; {documents} de {texts} textos de {name}.</translation>
    </message>
    <message>
        <source>Offered</source>
        <translation>Ofrecido</translation>
    </message>
    <message>
        <source>In the draw</source>
        <translation>En el sorteo</translation>
    </message>
    <message>
        <source>Not in the draw</source>
        <translation>Fuera del sorteo</translation>
    </message>
    <message>
        <source>Not drawn</source>
        <translation>No te ha tocado</translation>
    </message>
    <message>
        <source>Drawn</source>
        <translation>Te ha tocado</translation>
    </message>
    <message>
        <source>All scored</source>
        <translation>Todo puntuado</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>Hecho</translation>
    </message>
    <message>
        <source>Not in time</source>
        <translation>Fuera de plazo</translation>
    </message>
    <message>
        <source>Scoring</source>
        <translation>Puntuando</translation>
    </message>
    <message>
        <source>Not possible</source>
        <translation>No es posible</translation>
    </message>
    <message>
        <source>On</source>
        <translation>Activado</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>Desactivado</translation>
    </message>
    <message>
        <source>Your offer is in the log. After the deadline this computer draws a lot by itself; let Tequio run then, or others are drawn.</source>
        <translation>Tu oferta está en la bitácora. Tras el plazo este equipo saca por sí mismo un número de sorteo; deja Tequio en marcha entonces, o les tocará a otros.</translation>
    </message>
    <message>
        <source>Your lot is drawn. When the texts are opened, the lots decide who scores.</source>
        <translation>Tu número de sorteo está sacado. Cuando se abran los textos, los números deciden quién puntúa.</translation>
    </message>
    <message>
        <source>No lot was drawn here in time, so others score. Nothing is lost.</source>
        <translation>Este equipo no sacó a tiempo un número de sorteo, así que puntúan otros. No se pierde nada.</translation>
    </message>
    <message>
        <source>Others were drawn. Thank you for the offer.</source>
        <translation>Les ha tocado a otros. Gracias por ofrecerte.</translation>
    </message>
    <message>
        <source>All models are scored here, and committed to. The scores are revealed when all others have committed too, or their time is over.</source>
        <translation>Aquí están puntuados todos los modelos, con compromiso. Las puntuaciones se muestran cuando todos los demás se hayan comprometido también, o se acabe su plazo.</translation>
    </message>
    <message>
        <source>All your scores are in the log. Thank you.</source>
        <translation>Todas tus puntuaciones están en la bitácora. Gracias.</translation>
    </message>
    <message>
        <source>Not all models were scored and revealed in time; the others' scores count.</source>
        <translation>No todos los modelos se puntuaron y mostraron a tiempo; cuentan las puntuaciones de los demás.</translation>
    </message>
    <message>
        <source>You hold a part of the key to the texts, so others judge here.</source>
        <translation>Tienes una parte de la clave de los textos, así que aquí evalúan otros.</translation>
    </message>
    <message>
        <source>Organisers do not judge.</source>
        <translation>Los organizadores no evalúan.</translation>
    </message>
    <message>
        <source>You entered {by}, so others judge here.</source>
        <translation>Has inscrito {by}, así que aquí evalúan otros.</translation>
    </message>
    <message>
        <source>You trained in a run that takes part, as {by}, so others judge here.</source>
        <translation>Has entrenado en un entrenamiento que participa, como {by}, así que aquí evalúan otros.</translation>
    </message>
    <message>
        <source>This computer cannot judge now: {by}.</source>
        <translation>Este equipo no puede evaluar ahora: {by}.</translation>
    </message>
    <message>
        <source>The ledger did not accept your offer: {by}.</source>
        <translation>El registro no aceptó tu oferta: {by}.</translation>
    </message>
</context>
<context>
    <name>keys</name>
    <message>
        <source>the key file {path} cannot be used: {why}</source>
        <translation>el archivo de clave {path} no se puede usar: {why}</translation>
    </message>
    <message>
        <source>others may read the key file {path} (mode {mode}): run chmod 600 {path}</source>
        <translation>otros pueden leer el archivo de clave {path} (modo {mode}): ejecuta chmod 600 {path}</translation>
    </message>
    <message>
        <source>the key file {path} has {size} bytes instead of {due}: restore it from a backup, or move it away to become a new peer</source>
        <translation>el archivo de clave {path} tiene {size} bytes en lugar de {due}: restáuralo de una copia, o quítalo de ahí para ser un par nuevo</translation>
    </message>
    <message>
        <source>the key file {path} is damaged: restore it from a backup</source>
        <translation>el archivo de clave {path} está dañado: restáuralo de una copia</translation>
    </message>
    <message>
        <source>no key found in {folder}: restore one from a backup, or make a new one</source>
        <translation>no hay clave en {folder}: restáurala de una copia de seguridad, o crea una nueva</translation>
    </message>
    <message>
        <source>there is a key in {folder} already: restoring puts it aside, making does not</source>
        <translation>ya hay una clave en {folder}: restaurar la aparta, crear no</translation>
    </message>
    <message>
        <source>the key file {path} is sealed: a passphrase is needed</source>
        <translation>el archivo de clave {path} está sellado: hace falta una contraseña</translation>
    </message>
    <message>
        <source>the passphrase does not open the key file</source>
        <translation>la contraseña no abre el archivo de clave</translation>
    </message>
    <message>
        <source>the passphrase has fewer than {least} characters: choose a longer one</source>
        <translation>la contraseña tiene menos de {least} caracteres: elige una más larga</translation>
    </message>
    <message>
        <source>this system has no keyring that could keep a secret: choose another way to store it</source>
        <translation>este sistema no tiene un llavero que pueda guardar un secreto: elige otra forma de guardarlo</translation>
    </message>
    <message>
        <source>the system's keyring is locked: unlock it and try again</source>
        <translation>el llavero del sistema está bloqueado: desbloquéalo e intenta otra vez</translation>
    </message>
    <message>
        <source>the system's keyring fails ({why}): try again, or choose a passphrase</source>
        <translation>el llavero del sistema falla ({why}): intenta otra vez o elige una contraseña</translation>
    </message>
    <message>
        <source>the system's keyring has not answered for {seconds} s: it may be asking for its password behind another window; try again then</source>
        <translation>el llavero del sistema no ha respondido en {seconds} s: quizá pide su contraseña detrás de otra ventana; intenta entonces otra vez</translation>
    </message>
    <message>
        <source>the system's keyring has no entry for the key file {path}: it was emptied, or is another user's; restore the key from a backup</source>
        <translation>el llavero del sistema no tiene nada para el archivo de clave {path}: lo vaciaron, o es de otro usuario; restaura la clave de una copia</translation>
    </message>
    <message>
        <source>the backup {path} cannot be used: {why}</source>
        <translation>la copia {path} no se puede usar: {why}</translation>
    </message>
    <message>
        <source>the file {path} is not a key backup: choose the one that is</source>
        <translation>el archivo {path} no es una copia de seguridad de una clave: elige el que lo es</translation>
    </message>
    <message>
        <source>the passphrase does not open the backup {path}, or the file is damaged</source>
        <translation>la contraseña no abre la copia {path}, o el archivo está dañado</translation>
    </message>
    <message>
        <source>the backup {path} does not read back as it was written: choose another place, this one is unreliable</source>
        <translation>la copia {path} no se lee como se escribió: elige otro sitio, este no es fiable</translation>
    </message>
    <message>
        <source>a key has {due} words and these are {count}</source>
        <translation>una clave tiene {due} palabras y estas son {count}</translation>
    </message>
    <message>
        <source>word {number}, {word}, is not in the list of words: check your copy on paper</source>
        <translation>la palabra {number}, {word}, no está en la lista de palabras: compruébala en tu copia en papel</translation>
    </message>
    <message>
        <source>word {number}, {word}, is not in the list of words: it may be {near}</source>
        <translation>la palabra {number}, {word}, no está en la lista de palabras: puede ser {near}</translation>
    </message>
    <message>
        <source>all words are in the list, but they do not fit together: one may be wrong, or two may be swapped</source>
        <translation>todas las palabras están en la lista, pero no van juntas: puede que una sea incorrecta o que dos estén intercambiadas</translation>
    </message>
    <message>
        <source>the words do not belong together: look at word {number}, {word}, which may have been {near}</source>
        <translation>las palabras no van juntas: mira la palabra {number}, {word}, que pudo ser {near}</translation>
    </message>
    <message>
        <source>the words do not belong together: words {first} and {second} may have changed places</source>
        <translation>las palabras no van juntas: las palabras {first} y {second} pudieron cambiar de lugar</translation>
    </message>
</context>
<context>
    <name>notices</name>
    <message>
        <source>Dismiss</source>
        <translation>Descartar</translation>
    </message>
    <message>
        <source>Your settings could not be read. They are kept as {detail}, and the usual ones hold until you choose others.</source>
        <translation>No se pudieron leer tus ajustes. Se guardan como {detail}, y valen los habituales hasta que elijas otros.</translation>
    </message>
    <message>
        <source>Your settings were written by a newer Tequio. What this one knows of them is used; they are kept as {detail}.</source>
        <translation>Tus ajustes los escribió un Tequio más nuevo. Se usa lo que este conoce de ellos; se guardan como {detail}.</translation>
    </message>
    <message>
        <source>Your settings could not be saved ({detail}). They hold until you quit; make room or make the file writable, and they will be saved.</source>
        <translation>No se pudieron guardar tus ajustes ({detail}). Valen hasta que salgas; haz espacio o permite escribir el archivo, y se guardarán.</translation>
    </message>
    <message>
        <source>A worker that was started elsewhere runs already. This window controls it, and it goes on when you quit.</source>
        <translation>Ya hay un programa de trabajo que se inició en otro lugar. Esta ventana lo maneja, y sigue cuando salgas.</translation>
    </message>
    <message>
        <source>The worker here was started elsewhere, so this window cannot change its network. End it, then join again.</source>
        <translation>El trabajador de aquí se inició en otro lugar, así que esta ventana no puede cambiar su red. Termínalo y únete de nuevo.</translation>
    </message>
    <message>
        <source>You joined {detail}.</source>
        <translation>Te uniste a {detail}.</translation>
    </message>
    <message>
        <source>This competition link is incomplete ({detail}). Copy it again.</source>
        <translation>Este enlace a una competición está incompleto ({detail}). Cópialo otra vez.</translation>
    </message>
    <message>
        <source>That competition is in another network, whose ledger is {detail}. Choose Join a network, then open the link again.</source>
        <translation>Esa competición está en otra red, cuyo registro es {detail}. Elige «Unirse a una red» y abre el enlace de nuevo.</translation>
    </message>
    <message>
        <source>Your desktop shows no tray icons, so closing this window minimises it. Ctrl+Q quits and stops lending.</source>
        <translation>Tu escritorio no muestra iconos de bandeja, así que cerrar esta ventana la minimiza. Ctrl+Q sale y deja de prestar.</translation>
    </message>
</context>
<context>
    <name>pages</name>
    <message>
        <source>Home</source>
        <translation>Inicio</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>Entrenamientos</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modelo</translation>
    </message>
    <message>
        <source>Competitions</source>
        <translation>Competiciones</translation>
    </message>
    <message>
        <source>Points</source>
        <translation>Puntos</translation>
    </message>
    <message>
        <source>Hardware</source>
        <translation>Hardware</translation>
    </message>
    <message>
        <source>Activity</source>
        <translation>Actividad</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Ajustes</translation>
    </message>
</context>
<context>
    <name>remedies</name>
    <message>
        <source>Try again</source>
        <translation>Reintentar</translation>
    </message>
    <message>
        <source>At the present rate, this month's {cap} of traffic will be used up on {day}. Then nothing is lent until the next month, unless you raise the limit.</source>
        <translation>Al ritmo actual, los {cap} de tráfico de este mes se acaban el {day}. Después no se presta nada hasta el mes siguiente, salvo que subas el límite.</translation>
    </message>
    <message>
        <source>Statements that wait here for it: {waiting}.</source>
        <translation>Declaraciones que esperan aquí por él: {waiting}.</translation>
    </message>
    <message>
        <source>Your key has no backup: if this disk fails, your points cannot be claimed.</source>
        <translation>Tu clave no tiene copia: si falla este disco, no podrás reclamar tus puntos.</translation>
    </message>
    <message>
        <source>Open Settings</source>
        <translation>Abrir Ajustes</translation>
    </message>
    <message>
        <source>Open Hardware</source>
        <translation>Abrir Hardware</translation>
    </message>
    <message>
        <source>Open Activity</source>
        <translation>Abrir Actividad</translation>
    </message>
    <message>
        <source>Open Runs</source>
        <translation>Abrir Entrenamientos</translation>
    </message>
    <message>
        <source>Join a network…</source>
        <translation>Unirse a una red…</translation>
    </message>
    <message>
        <source>Back it up</source>
        <translation>Respaldarla</translation>
    </message>
    <message>
        <source>The network has not answered since {since}.</source>
        <translation>La red no responde desde {since}.</translation>
    </message>
    <message>
        <source>The network has not answered since {since}. Work goes on, and points follow later.</source>
        <translation>La red no responde desde {since}. El trabajo sigue, y los puntos llegan después.</translation>
    </message>
    <message>
        <source>Update now</source>
        <translation>Actualizar ahora</translation>
    </message>
    <message>
        <source>Update it the way it was installed, for example with git, pip or the system's packages.</source>
        <translation>Actualízalo como lo instalaste, por ejemplo con git, pip o los paquetes del sistema.</translation>
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
        <translation>Detiene ahora el préstamo</translation>
    </message>
    <message>
        <source>on</source>
        <translation>sí</translation>
    </message>
    <message>
        <source>off</source>
        <translation>no</translation>
    </message>
    <message>
        <source>{note} Default: {default}.</source>
        <translation>{note} De fábrica: {default}.</translation>
    </message>
    <message>
        <source>When to lend</source>
        <translation>Cuándo prestar</translation>
    </message>
    <message>
        <source>Tequio runs only when every rule allows it. Changes apply immediately.</source>
        <translation>Tequio solo funciona cuando todas las reglas lo permiten. Los cambios se aplican de inmediato.</translation>
    </message>
    <message>
        <source>While you're using the computer</source>
        <translation>Mientras usas el equipo</translation>
    </message>
    <message>
        <source>Games and films</source>
        <translation>Juegos y películas</translation>
    </message>
    <message>
        <source>Power</source>
        <translation>Energía</translation>
    </message>
    <message>
        <source>Other programs</source>
        <translation>Otros programas</translation>
    </message>
    <message>
        <source>Competitions</source>
        <translation>Competiciones</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>Perfil</translation>
    </message>
    <message>
        <source>Default: Balanced. A preset changes only the settings named on its card.</source>
        <translation>Por defecto: Equilibrado. Un perfil solo cambia los ajustes que nombra su tarjeta.</translation>
    </message>
    <message>
        <source>Idle time before starting</source>
        <translation>Tiempo inactivo antes de empezar</translation>
    </message>
    <message>
        <source>Starts after this long without input, or as soon as the screen is locked.</source>
        <translation>Empieza tras este tiempo sin actividad, o en cuanto se bloquea la pantalla.</translation>
    </message>
    <message>
        <source>min</source>
        <translation>min</translation>
    </message>
    <message>
        <source>Immediately</source>
        <translation>Inmediatamente</translation>
    </message>
    <message>
        <source>Lend while I use the computer</source>
        <translation>Prestar mientras uso el equipo</translation>
    </message>
    <message>
        <source>Tequio then works for part of the time. The rules for games and films still apply.</source>
        <translation>Tequio trabaja entonces parte del tiempo. Las reglas para juegos y películas siguen vigentes.</translation>
    </message>
    <message>
        <source>Share of the time</source>
        <translation>Parte del tiempo</translation>
    </message>
    <message>
        <source>How much of the time Tequio works while you use the computer.</source>
        <translation>Qué parte del tiempo trabaja Tequio mientras usas el equipo.</translation>
    </message>
    <message>
        <source>Keep the computer awake</source>
        <translation>Mantener despierto el equipo</translation>
    </message>
    <message>
        <source>Keeps the computer from going to sleep while something is lent.</source>
        <translation>Evita que el equipo se suspenda mientras se presta algo.</translation>
    </message>
    <message>
        <source>Hours of the week</source>
        <translation>Horas de la semana</translation>
    </message>
    <message>
        <source>Drag to select hours, or use Shift+arrow keys; Space toggles an hour.</source>
        <translation>Arrastra para seleccionar horas, o usa Mayús+flechas; Espacio activa o desactiva una hora.</translation>
    </message>
    <message>
        <source>all hours</source>
        <translation>todas las horas</translation>
    </message>
    <message>
        <source>Pause for games</source>
        <translation>Pausar con juegos</translation>
    </message>
    <message>
        <source>Nothing is lent while a game runs or fills the screen, and for 60 s afterwards.</source>
        <translation>No se presta nada mientras un juego está abierto o llena la pantalla, ni 60 s después.</translation>
    </message>
    <message>
        <source>Pause for films</source>
        <translation>Pausar con películas</translation>
    </message>
    <message>
        <source>Nothing is lent while a browser or a video player fills the screen.</source>
        <translation>No se presta nada mientras un navegador o un reproductor llena la pantalla.</translation>
    </message>
    <message>
        <source>Exclusive programs</source>
        <translation>Programas exclusivos</translation>
    </message>
    <message>
        <source>Nothing is lent while one of these runs: video editing, calls, recording.</source>
        <translation>No se presta nada mientras uno de estos está abierto: edición de video, llamadas, grabación.</translation>
    </message>
    <message>
        <source>none</source>
        <translation>ninguno</translation>
    </message>
    <message>
        <source>Lend on battery</source>
        <translation>Prestar con batería</translation>
    </message>
    <message>
        <source>Continues when the computer is unplugged.</source>
        <translation>Sigue cuando el equipo se desenchufa.</translation>
    </message>
    <message>
        <source>Lend in power saving mode</source>
        <translation>Prestar en modo de ahorro</translation>
    </message>
    <message>
        <source>Continues when power saving is switched on, by you or by the system.</source>
        <translation>Sigue cuando tú o el sistema activáis el ahorro de energía.</translation>
    </message>
    <message>
        <source>Other programs on the GPU</source>
        <translation>Otros programas en la GPU</translation>
    </message>
    <message>
        <source>Pauses while other programs keep the GPU busier than this for 3 s.</source>
        <translation>Se pausa mientras otros programas ocupan la GPU más que esto durante 3 s.</translation>
    </message>
    <message>
        <source>%</source>
        <translation>%</translation>
    </message>
    <message>
        <source>Other programs on the CPU</source>
        <translation>Otros programas en la CPU</translation>
    </message>
    <message>
        <source>Pauses while other programs keep all CPU cores together busier than this.</source>
        <translation>Se pausa mientras otros programas ocupan el conjunto de núcleos de la CPU más que esto.</translation>
    </message>
    <message>
        <source>Help judge competitions</source>
        <translation>Ayudar a juzgar competiciones</translation>
    </message>
    <message>
        <source>Needs about five bytes of memory for each parameter of a model, and some minutes of computing for each model once the texts are open. It follows the same rules as training. A judge cannot win with their own entry, nor judge a run they trained in.</source>
        <translation>Necesita unos cinco bytes de memoria por cada parámetro de un modelo, y unos minutos de cálculo por modelo cuando se abren los textos. Sigue las mismas reglas que el entrenamiento. Quien juzga no puede ganar con su propia participación, ni juzgar un entrenamiento en el que trabajó.</translation>
    </message>
    <message>
        <source>Network</source>
        <translation>Red</translation>
    </message>
    <message>
        <source>The network that you work for, and how much bandwidth that may take.</source>
        <translation>La red para la que trabajas y cuánto ancho de banda puede usar.</translation>
    </message>
    <message>
        <source>Your network</source>
        <translation>Tu red</translation>
    </message>
    <message>
        <source>Bandwidth</source>
        <translation>Ancho de banda</translation>
    </message>
    <message>
        <source>Per month</source>
        <translation>Por mes</translation>
    </message>
    <message>
        <source>Connections from others</source>
        <translation>Conexiones de otros</translation>
    </message>
    <message>
        <source>Metered networks</source>
        <translation>Redes de uso medido</translation>
    </message>
    <message>
        <source>Ledger</source>
        <translation>Registro</translation>
    </message>
    <message>
        <source>The server that keeps the public log of the network's work and points.</source>
        <translation>El servidor que guarda la bitácora pública del trabajo y los puntos de la red.</translation>
    </message>
    <message>
        <source>Upload</source>
        <translation>Subida</translation>
    </message>
    <message>
        <source>Upload limit. Stay below half your connection speed to keep games and calls smooth.</source>
        <translation>Límite de subida. Por debajo de la mitad de la velocidad de tu conexión, los juegos y las llamadas van fluidos.</translation>
    </message>
    <message>
        <source>Mbit/s</source>
        <translation>Mbit/s</translation>
    </message>
    <message>
        <source>No limit</source>
        <translation>Sin límite</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>Descarga</translation>
    </message>
    <message>
        <source>Download limit. It does not slow the models that you score for competitions.</source>
        <translation>Límite de bajada. No frena los modelos que puntúas para las competiciones.</translation>
    </message>
    <message>
        <source>Monthly quota</source>
        <translation>Cuota mensual</translation>
    </message>
    <message>
        <source>Upload and download together. Once it is used up, lending resumes on the first of the next month.</source>
        <translation>Subida y bajada juntas. Cuando se agota, el préstamo sigue el día uno del mes siguiente.</translation>
    </message>
    <message>
        <source>GB</source>
        <translation>GB</translation>
    </message>
    <message>
        <source>Used this month</source>
        <translation>Usado este mes</translation>
    </message>
    <message>
        <source>Others can connect to this computer</source>
        <translation>Otros pueden conectarse a este equipo</translation>
    </message>
    <message>
        <source>Found out by asking other computers of the network to try.</source>
        <translation>Se averigua pidiendo a otros equipos de la red que lo intenten.</translation>
    </message>
    <message>
        <source>Open a port on the router</source>
        <translation>Abrir un puerto en el router</translation>
    </message>
    <message>
        <source>Asks your router by UPnP or NAT-PMP to let other computers of the network connect to this one. The port is closed when Tequio ends.</source>
        <translation>Pide a tu router por UPnP o NAT-PMP que deje a otros equipos de la red conectarse a este. El puerto se cierra cuando Tequio termina.</translation>
    </message>
    <message>
        <source>Find members in the local network</source>
        <translation>Encontrar miembros en la red local</translation>
    </message>
    <message>
        <source>Computers behind the same router exchange directly instead of through the internet. Everyone in the local network can see that this computer runs Tequio.</source>
        <translation>Los equipos detrás del mismo router intercambian datos directamente en lugar de por internet. Cualquiera en la red local puede ver que este equipo ejecuta Tequio.</translation>
    </message>
    <message>
        <source>Lend on metered networks</source>
        <translation>Prestar en redes de uso medido</translation>
    </message>
    <message>
        <source>On a phone's hotspot, or where the system marks the network as metered.</source>
        <translation>En el punto de acceso de un teléfono, o donde el sistema marca la red como de uso medido.</translation>
    </message>
    <message>
        <source>Storage</source>
        <translation>Almacenamiento</translation>
    </message>
    <message>
        <source>How much disk space Tequio may use.</source>
        <translation>Cuánto espacio en disco puede usar Tequio.</translation>
    </message>
    <message>
        <source>Tequio's files</source>
        <translation>Archivos de Tequio</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>Disco</translation>
    </message>
    <message>
        <source>Storage limit</source>
        <translation>Límite de almacenamiento</translation>
    </message>
    <message>
        <source>For the model, data and updates of your runs. The oldest are deleted first.</source>
        <translation>Para el modelo, los datos y las actualizaciones de tus entrenamientos. Lo más antiguo se borra primero.</translation>
    </message>
    <message>
        <source>Used by Tequio</source>
        <translation>Usado por Tequio</translation>
    </message>
    <message>
        <source>Always keep free</source>
        <translation>Dejar siempre libre</translation>
    </message>
    <message>
        <source>Lending waits when less disk space than this is free.</source>
        <translation>El préstamo espera cuando queda libre menos espacio que este.</translation>
    </message>
    <message>
        <source>Free now</source>
        <translation>Libre ahora</translation>
    </message>
    <message>
        <source>On the disk that holds Tequio's files.</source>
        <translation>En el disco con los archivos de Tequio.</translation>
    </message>
    <message>
        <source>Notifications</source>
        <translation>Notificaciones</translation>
    </message>
    <message>
        <source>What Tequio notifies you of.</source>
        <translation>De qué te avisa Tequio.</translation>
    </message>
    <message>
        <source>First points</source>
        <translation>Primeros puntos</translation>
    </message>
    <message>
        <source>Once, when your first points are verified.</source>
        <translation>Una vez, cuando se verifican tus primeros puntos.</translation>
    </message>
    <message>
        <source>Weekly rank</source>
        <translation>Puesto semanal</translation>
    </message>
    <message>
        <source>Once a week, how your rank has changed.</source>
        <translation>Una vez por semana, cómo ha cambiado tu puesto.</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>Atención</translation>
    </message>
    <message>
        <source>When lending cannot continue until you do something.</source>
        <translation>Cuando no se puede seguir prestando hasta que hagas algo.</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>Entrenamientos</translation>
    </message>
    <message>
        <source>When a run you are in ends, or goes back to an earlier model.</source>
        <translation>Cuando un entrenamiento en el que estás acaba o vuelve a un modelo anterior.</translation>
    </message>
    <message>
        <source>When one begins, when its deadline is near and when it is decided; when you are drawn to judge, and when all your scores are in.</source>
        <translation>Cuando empieza una, cuando se acerca su plazo y cuando se decide; cuando te toca juzgar, y cuando todas tus puntuaciones están entregadas.</translation>
    </message>
    <message>
        <source>Announcements</source>
        <translation>Anuncios</translation>
    </message>
    <message>
        <source>When the organisers of the network announce something to everybody.</source>
        <translation>Cuando los organizadores de la red anuncian algo a todos.</translation>
    </message>
    <message>
        <source>Notifications wait while a program fills the screen.</source>
        <translation>Los avisos esperan mientras un programa llena la pantalla.</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>Apariencia</translation>
    </message>
    <message>
        <source>Colours, language and motion.</source>
        <translation>Colores, idioma y movimiento.</translation>
    </message>
    <message>
        <source>Colours</source>
        <translation>Colores</translation>
    </message>
    <message>
        <source>A light or a dark theme.</source>
        <translation>Un tema claro u oscuro.</translation>
    </message>
    <message>
        <source>Same as system</source>
        <translation>Como el sistema</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>Claro</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>Oscuro</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Idioma</translation>
    </message>
    <message>
        <source>For texts, dates and numbers. Texts without a translation are in English.</source>
        <translation>Para textos, fechas y números. Los textos sin traducción están en inglés.</translation>
    </message>
    <message>
        <source>Reduced motion</source>
        <translation>Menos movimiento</translation>
    </message>
    <message>
        <source>No sliding or fading. The system's own setting has the same effect.</source>
        <translation>Nada se desliza ni se desvanece. El ajuste del propio sistema tiene el mismo efecto.</translation>
    </message>
    <message>
        <source>Account and keys</source>
        <translation>Cuenta y claves</translation>
    </message>
    <message>
        <source>Your identity on the network.</source>
        <translation>Tu identidad en la red.</translation>
    </message>
    <message>
        <source>Name and team</source>
        <translation>Nombre y equipo</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>Clave</translation>
    </message>
    <message>
        <source>If this computer is lost or the key is stolen</source>
        <translation>Si pierdes este equipo o roban la clave</translation>
    </message>
    <message>
        <source>Public name</source>
        <translation>Nombre público</translation>
    </message>
    <message>
        <source>Shown instead of your key in rankings and on pages. Unique in this network.</source>
        <translation>Se muestra en lugar de tu clave en clasificaciones y páginas. Único en esta red.</translation>
    </message>
    <message>
        <source>nickname rename</source>
        <translation>apodo renombrar</translation>
    </message>
    <message>
        <source>Team</source>
        <translation>Equipo</translation>
    </message>
    <message>
        <source>Join one with a link from its owner, or found your own. What you earn also counts for your team.</source>
        <translation>Entra en uno con un enlace de quien lo dirige, o funda el tuyo. Lo que ganas cuenta también para tu equipo.</translation>
    </message>
    <message>
        <source>group friends</source>
        <translation>grupo amigos</translation>
    </message>
    <message>
        <source>Peer id</source>
        <translation>Identificador de par</translation>
    </message>
    <message>
        <source>How other computers find yours; visible to everyone.</source>
        <translation>Así encuentran otros equipos el tuyo; lo ve todo el mundo.</translation>
    </message>
    <message>
        <source>Key fingerprint</source>
        <translation>Huella de la clave</translation>
    </message>
    <message>
        <source>The public half of your key, shown with your points and in the ranking. The secret half never leaves this computer; nobody who helps you will ask for it.</source>
        <translation>La mitad pública de tu clave, que se muestra con tus puntos y en la clasificación. La mitad secreta nunca sale de este equipo; nadie que te ayude te la pedirá.</translation>
    </message>
    <message>
        <source>Linked account</source>
        <translation>Cuenta vinculada</translation>
    </message>
    <message>
        <source>Shows the network that a person is behind your key. Some runs ask for it.</source>
        <translation>Muestra a la red que hay una persona detrás de tu clave. Algunos entrenamientos lo piden.</translation>
    </message>
    <message>
        <source>connect vouch github tier</source>
        <translation>conectar avalar github nivel</translation>
    </message>
    <message>
        <source>Standing</source>
        <translation>Situación</translation>
    </message>
    <message>
        <source>Your key is in good standing.</source>
        <translation>Tu clave está en regla.</translation>
    </message>
    <message>
        <source>Appeal</source>
        <translation>Apelación</translation>
    </message>
    <message>
        <source>If your key was restricted by mistake, ask the organisers to review it.</source>
        <translation>Si tu clave fue restringida por error, pide a los organizadores que lo revisen.</translation>
    </message>
    <message>
        <source>quarantine ban suspected review</source>
        <translation>cuarentena expulsión sospecha revisión</translation>
    </message>
    <message>
        <source>Backup and restore</source>
        <translation>Copia y restauración</translation>
    </message>
    <message>
        <source>Setup</source>
        <translation>Configuración inicial</translation>
    </message>
    <message>
        <source>Run the setup again. Nothing changes until you finish it.</source>
        <translation>Repetir la configuración inicial. Nada cambia hasta que la termines.</translation>
    </message>
    <message>
        <source>Recovery key</source>
        <translation>Clave de recuperación</translation>
    </message>
    <message>
        <source>Stops this computer's key and moves your points to a new one, even if a thief has the computer. Keep it somewhere else.</source>
        <translation>Detiene la clave de este equipo y pasa tus puntos a una nueva, aunque un ladrón tenga el equipo. Guárdala en otro lugar.</translation>
    </message>
    <message>
        <source>stolen lost theft words paper</source>
        <translation>robo robada perdida palabras papel</translation>
    </message>
    <message>
        <source>Replace this computer's key</source>
        <translation>Reemplazar la clave de este equipo</translation>
    </message>
    <message>
        <source>A new key gets your points, standing, name and team. The present one can never be used again.</source>
        <translation>Una clave nueva recibe tus puntos, tu situación, tu nombre y tu afiliación. La actual no podrá volver a usarse.</translation>
    </message>
    <message>
        <source>new key rotate stolen</source>
        <translation>clave nueva cambiar robada</translation>
    </message>
    <message>
        <source>A lost or stolen computer</source>
        <translation>Un equipo perdido o robado</translation>
    </message>
    <message>
        <source>Stop the key of another computer of yours, or move its points to this one.</source>
        <translation>Detén la clave de otro equipo tuyo, o trae sus puntos a este.</translation>
    </message>
    <message>
        <source>revoke stolen thief</source>
        <translation>revocar robada ladrón</translation>
    </message>
    <message>
        <source>Startup</source>
        <translation>Arranque</translation>
    </message>
    <message>
        <source>Whether Tequio starts when you log in.</source>
        <translation>Si Tequio empieza al iniciar sesión.</translation>
    </message>
    <message>
        <source>Start at login</source>
        <translation>Arrancar al iniciar sesión</translation>
    </message>
    <message>
        <source>Starts minimised to the tray; the window stays closed.</source>
        <translation>Empieza minimizado en la bandeja; la ventana sigue cerrada.</translation>
    </message>
    <message>
        <source>your choice during setup</source>
        <translation>lo que elegiste en la configuración inicial</translation>
    </message>
    <message>
        <source>autostart background hidden</source>
        <translation>autoarranque segundo plano oculto</translation>
    </message>
    <message>
        <source>Privacy</source>
        <translation>Privacidad</translation>
    </message>
    <message>
        <source>Everything that leaves this computer, and where it goes.</source>
        <translation>Todo lo que sale de este equipo, y adónde va.</translation>
    </message>
    <message>
        <source>To the public ledger (permanent, readable by anyone)</source>
        <translation>Al registro público (permanente, cualquiera puede leerlo)</translation>
    </message>
    <message>
        <source>To the ledger's operator</source>
        <translation>A quien opera el registro</translation>
    </message>
    <message>
        <source>To other volunteers in your runs</source>
        <translation>A otros voluntarios de tus entrenamientos</translation>
    </message>
    <message>
        <source>To your router</source>
        <translation>A tu router</translation>
    </message>
    <message>
        <source>To your local network</source>
        <translation>A tu red local</translation>
    </message>
    <message>
        <source>To servers that offer Tequio or a run's data</source>
        <translation>A los servidores que ofrecen Tequio o los datos de un entrenamiento</translation>
    </message>
    <message>
        <source>Never sent</source>
        <translation>Nunca se envía</translation>
    </message>
    <message>
        <source>Telemetry</source>
        <translation>Telemetría</translation>
    </message>
    <message>
        <source>No usage data and no crash reports are ever sent. After an error you can copy a report and send it yourself.</source>
        <translation>Nunca se envían datos de uso ni informes de fallos. Tras un error puedes copiar un informe y enviarlo tú.</translation>
    </message>
    <message>
        <source>None</source>
        <translation>Ninguna</translation>
    </message>
    <message>
        <source>Your public key, and the work that a new key costs</source>
        <translation>Tu clave pública y el trabajo que cuesta una clave nueva</translation>
    </message>
    <message>
        <source>Once, so that points have an owner.</source>
        <translation>Una vez, para que los puntos tengan dueño.</translation>
    </message>
    <message>
        <source>That you are ready, in which roles, with which model</source>
        <translation>Que estás disponible, en qué papeles, con qué modelo</translation>
    </message>
    <message>
        <source>Run, roles, the hash of the model you hold, a commitment for the draw.</source>
        <translation>Entrenamiento, papeles, el hash del modelo que tienes, un compromiso para el sorteo.</translation>
    </message>
    <message>
        <source>That you leave, with a reason code</source>
        <translation>Que te vas, con un código de motivo</translation>
    </message>
    <message>
        <source>When lending stops. The code never says why you stopped.</source>
        <translation>Cuando se deja de prestar. El código nunca dice por qué paraste.</translation>
    </message>
    <message>
        <source>The header of each update that you trained</source>
        <translation>El encabezado de cada actualización que entrenaste</translation>
    </message>
    <message>
        <source>Run, round, windows of data, tokens, steps, two losses, hashes of model and update.</source>
        <translation>Entrenamiento, ronda, ventanas de datos, tokens, pasos, dos pérdidas, hashes del modelo y de la actualización.</translation>
    </message>
    <message>
        <source>Which model you hold or computed for a round</source>
        <translation>Qué modelo tienes o has calculado para una ronda</translation>
    </message>
    <message>
        <source>Hashes of its parts, and your lot for the draw of witnesses.</source>
        <translation>Hashes de sus partes y tu número para el sorteo de testigos.</translation>
    </message>
    <message>
        <source>What you found as a witness</source>
        <translation>Lo que viste como testigo</translation>
    </message>
    <message>
        <source>Which updates arrived, which were refused and by which rule, hashes, the hash of the next model.</source>
        <translation>Qué actualizaciones llegaron, cuáles se rechazaron y por qué regla, hashes, el hash del modelo siguiente.</translation>
    </message>
    <message>
        <source>What you found when you repeated another volunteer's work</source>
        <translation>Qué encontraste al repetir el trabajo de otra persona voluntaria</translation>
    </message>
    <message>
        <source>How far its result is from yours, in a few numbers, and a sketch of yours.</source>
        <translation>Cuánto difiere su resultado del tuyo, en unos pocos números, y un esbozo del tuyo.</translation>
    </message>
    <message>
        <source>How good a model is, where you were drawn to measure it</source>
        <translation>Qué tan bueno es un modelo, si te tocó por sorteo medirlo</translation>
    </message>
    <message>
        <source>Its hash, how many bits it needs for text that the run keeps aside, and how it continues a given beginning of a text.</source>
        <translation>Su hash, cuántos bits necesita para el texto que el entrenamiento reserva, y cómo continúa un comienzo de texto dado.</translation>
    </message>
    <message>
        <source>Your offer to judge competitions, and your scores</source>
        <translation>Tu oferta de evaluar competiciones, y tus puntuaciones</translation>
    </message>
    <message>
        <source>If you switched it on: a lot for the draw, commitments, the bits of each text, the program's version, the device's name and its threads.</source>
        <translation>Si lo has activado: un número para el sorteo, compromisos, los bits de cada texto, la versión del programa, el nombre del dispositivo y sus hilos.</translation>
    </message>
    <message>
        <source>Proofs that a key contradicted itself</source>
        <translation>Pruebas de que una clave se contradijo</translation>
    </message>
    <message>
        <source>Two statements signed by that key; and your appeal, if you make one.</source>
        <translation>Dos declaraciones firmadas por esa clave; y tu recurso, si presentas uno.</translation>
    </message>
    <message>
        <source>That a key has a recovery key, was replaced or was revoked</source>
        <translation>Que una clave tiene clave de recuperación, fue reemplazada o fue revocada</translation>
    </message>
    <message>
        <source>If you do that: the public halves of the keys, which shows that they have one owner.</source>
        <translation>Si lo haces: las mitades públicas de las claves, lo que muestra que son de un mismo dueño.</translation>
    </message>
    <message>
        <source>What you publish yourself</source>
        <translation>Lo que publicas tú</translation>
    </message>
    <message>
        <source>Your public name; the team that you earn for; entries and challenges in competitions.</source>
        <translation>Tu nombre público; el equipo para el que ganas puntos; inscripciones e impugnaciones en competiciones.</translation>
    </message>
    <message>
        <source>With each statement</source>
        <translation>Con cada declaración</translation>
    </message>
    <message>
        <source>Its number, the time on your clock, the statement before it, your signature.</source>
        <translation>Su número, la hora de tu reloj, la declaración anterior, tu firma.</translation>
    </message>
    <message>
        <source>Your internet address and your requests</source>
        <translation>Tu dirección de internet y tus peticiones</translation>
    </message>
    <message>
        <source>As with every web server: log entries, runs, your own points and ranking.</source>
        <translation>Como con todo servidor web: entradas de la bitácora, entrenamientos, tus puntos y tu puesto.</translation>
    </message>
    <message>
        <source>The text of an appeal, if you write one</source>
        <translation>El texto de una apelación, si la escribes</translation>
    </message>
    <message>
        <source>With your key, the time and your signature.</source>
        <translation>Con tu clave, la hora y tu firma.</translation>
    </message>
    <message>
        <source>Your peer id, addresses and ports</source>
        <translation>Tu identificador de par, direcciones y puertos</translation>
    </message>
    <message>
        <source>Including those of this computer in its local network, and the version of the network library.</source>
        <translation>También las de este equipo en su red local, y la versión de la biblioteca de red.</translation>
    </message>
    <message>
        <source>Updates, models, training data and Tequio itself</source>
        <translation>Actualizaciones, modelos, datos de entrenamiento y el propio Tequio</translation>
    </message>
    <message>
        <source>What you trained, and what others ask for: pieces of the public model and data, and of the versions of Tequio that you have fetched.</source>
        <translation>Lo que entrenaste y lo que otros piden: trozos del modelo y los datos públicos, y de las versiones de Tequio que has descargado.</translation>
    </message>
    <message>
        <source>Your statements of the current round</source>
        <translation>Tus declaraciones de la ronda actual</translation>
    </message>
    <message>
        <source>The same statements that the ledger gets.</source>
        <translation>Las mismas declaraciones que recibe el registro.</translation>
    </message>
    <message>
        <source>A port, and the name Tequio</source>
        <translation>Un puerto y el nombre Tequio</translation>
    </message>
    <message>
        <source>Only if you let Tequio open a port on the router, in Network.</source>
        <translation>Solo si dejas que Tequio abra un puerto en el router, en Red.</translation>
    </message>
    <message>
        <source>That this computer runs Tequio, and its port</source>
        <translation>Que este equipo ejecuta Tequio, y su puerto</translation>
    </message>
    <message>
        <source>Only if you let Tequio find members there, in Network. Your key is not named.</source>
        <translation>Solo si dejas que Tequio encuentre allí miembros, en Red. Tu clave no se nombra.</translation>
    </message>
    <message>
        <source>Your internet address and what you fetch</source>
        <translation>Tu dirección de internet y lo que descargas</translation>
    </message>
    <message>
        <source>When Tequio looks for a newer version, or fetches it or what training needs.</source>
        <translation>Cuando Tequio busca una versión nueva, o la descarga, o descarga lo que hace falta para entrenar.</translation>
    </message>
    <message>
        <source>Your internet address and the parts you fetch</source>
        <translation>Tu dirección de internet y las partes que descargas</translation>
    </message>
    <message>
        <source>When the organiser of a run keeps its data on a web server.</source>
        <translation>Cuando el organizador de un entrenamiento guarda sus datos en un servidor web.</translation>
    </message>
    <message>
        <source>Your files, programs, games and windows</source>
        <translation>Tus archivos, programas, juegos y ventanas</translation>
    </message>
    <message>
        <source>Tequio checks them on this computer only, to decide whether to lend.</source>
        <translation>Tequio los comprueba solo en este equipo, para decidir si presta.</translation>
    </message>
    <message>
        <source>User name, computer name and device readings</source>
        <translation>Nombre de usuario, nombre del equipo y mediciones de los dispositivos</translation>
    </message>
    <message>
        <source>Others see how fast you train. Judges also publish the name of the device that scored.</source>
        <translation>Los demás ven lo rápido que entrenas. Quien juzga publica además el nombre del dispositivo que puntuó.</translation>
    </message>
    <message>
        <source>Your settings and hours</source>
        <translation>Tus ajustes y horarios</translation>
    </message>
    <message>
        <source>They stay in the app's folder.</source>
        <translation>Se quedan en la carpeta de la aplicación.</translation>
    </message>
    <message>
        <source>Advanced</source>
        <translation>Avanzado</translation>
    </message>
    <message>
        <source>Most people never need these.</source>
        <translation>La mayoría nunca los necesita.</translation>
    </message>
    <message>
        <source>Worker</source>
        <translation>Programa de trabajo</translation>
    </message>
    <message>
        <source>Updates</source>
        <translation>Actualizaciones</translation>
    </message>
    <message>
        <source>Reset</source>
        <translation>Restablecer</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>Carpeta</translation>
    </message>
    <message>
        <source>Key, store and state. To move it: quit, move the folder, and start with --dir.</source>
        <translation>Clave, almacén y estado. Para moverla: cierra la aplicación, mueve la carpeta y empieza con --dir.</translation>
    </message>
    <message>
        <source>Listen address</source>
        <translation>Dirección de escucha</translation>
    </message>
    <message>
        <source>Where peers reach this computer, for example /ip4/0.0.0.0/tcp/4001.</source>
        <translation>Donde los pares alcanzan este equipo, por ejemplo /ip4/0.0.0.0/tcp/4001.</translation>
    </message>
    <message>
        <source>any free port</source>
        <translation>cualquier puerto libre</translation>
    </message>
    <message>
        <source>Log level</source>
        <translation>Nivel de detalle</translation>
    </message>
    <message>
        <source>How much is written to worker.log in the folder. A change restarts the worker.</source>
        <translation>Cuánto se escribe en worker.log en la carpeta. Un cambio reinicia el programa de trabajo.</translation>
    </message>
    <message>
        <source>Everything</source>
        <translation>Todo</translation>
    </message>
    <message>
        <source>Events</source>
        <translation>Sucesos</translation>
    </message>
    <message>
        <source>Warnings</source>
        <translation>Avisos</translation>
    </message>
    <message>
        <source>Errors</source>
        <translation>Errores</translation>
    </message>
    <message>
        <source>Update automatically</source>
        <translation>Actualizar automáticamente</translation>
    </message>
    <message>
        <source>Once a day Tequio looks for a newer version, fetches it, and tests it. It starts while you are away and no round is running; if a passphrase protects your key, the next time Tequio starts.</source>
        <translation>Una vez al día Tequio busca una versión más nueva, la descarga y la prueba. Empieza mientras no estás y no hay ninguna ronda en curso; si una contraseña protege tu clave, la próxima vez que se abra Tequio.</translation>
    </message>
    <message>
        <source>Reset all settings</source>
        <translation>Restablecer todos los ajustes</translation>
    </message>
    <message>
        <source>Restores every default. Key, points, consent and chosen runs stay, except the processor's.</source>
        <translation>Restaura todos los valores por defecto. Clave, puntos, consentimiento y entrenamientos elegidos se quedan, salvo el del procesador.</translation>
    </message>
</context>
<context>
    <name>vesting</name>
    <message>
        <source>{points} of your points are still vesting: they can be lost if work turns out not to have been done.</source>
        <translation>{points} de tus puntos aún no están consolidados: se pueden perder si resulta que el trabajo no se hizo.</translation>
    </message>
    <message>
        <source>{points} more were forfeited, and are no longer counted.</source>
        <translation>Otros {points} se perdieron y ya no se cuentan.</translation>
    </message>
</context>
<context>
    <name>words</name>
    <message>
        <source>Lending</source>
        <translation>Prestando</translation>
    </message>
    <message>
        <source>Finishing</source>
        <translation>Terminando</translation>
    </message>
    <message>
        <source>Waiting</source>
        <translation>Esperando</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>En pausa</translation>
    </message>
    <message>
        <source>Snoozed</source>
        <translation>Pospuesto</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>Atención</translation>
    </message>
    <message>
        <source>nobody needs the computer. Gives way when you come back.</source>
        <translation>nadie necesita el equipo. Te cede el paso cuando vuelvas.</translation>
    </message>
    <message>
        <source>this device is lent also while you use the computer or play.</source>
        <translation>este dispositivo se presta también mientras usas el equipo o juegas.</translation>
    </message>
    <message>
        <source>whether or not somebody uses the computer, which this worker cannot see. Pause stops it (tequio pause).</source>
        <translation>aunque alguien use el equipo, porque este programa de trabajo no puede verlo. «Pausar» lo detiene (tequio pause).</translation>
    </message>
    <message>
        <source>gently, at {share}% of the time, while you use the computer.</source>
        <translation>con suavidad, el {share} % del tiempo, mientras usas el equipo.</translation>
    </message>
    <message>
        <source>you started it although a rule says to wait. The rules decide again once they have allowed it for 5 min.</source>
        <translation>lo empezaste aunque una regla dice que hay que esperar. Las reglas vuelven a decidir cuando lo hayan permitido durante 5 min.</translation>
    </message>
    <message>
        <source>scoring models for a competition, as you offered. See Competitions.</source>
        <translation>puntúa modelos para una competición, como ofreciste. Mira Competiciones.</translation>
    </message>
    <message>
        <source>nothing is lent before you agree to it. Choose when to lend, then Contribute.</source>
        <translation>no se presta nada hasta que digas que sí. Elige cuándo prestar y pulsa Contribuir.</translation>
    </message>
    <message>
        <source>you paused it. Resumes when you choose Contribute.</source>
        <translation>lo pausaste. Se reanuda cuando pulses Contribuir.</translation>
    </message>
    <message>
        <source>the last round is finished, as you asked. Resumes when you choose Contribute.</source>
        <translation>la última ronda terminó, como pediste. Se reanuda cuando pulses Contribuir.</translation>
    </message>
    <message>
        <source>you asked for a break. Resumes automatically.</source>
        <translation>has pedido un descanso. Se reanuda automáticamente.</translation>
    </message>
    <message>
        <source>you asked for a break. Resumes {until}.</source>
        <translation>pediste un descanso. Se reanuda {until}.</translation>
    </message>
    <message>
        <source>this device is switched off. Switch it on in Hardware to lend it.</source>
        <translation>este dispositivo está apagado. Enciéndelo en Hardware para prestarlo.</translation>
    </message>
    <message>
        <source>until {program} closes. Resumes 60 s after that.</source>
        <translation>hasta que se cierre {program}. Se reanuda 60 s después.</translation>
    </message>
    <message>
        <source>until your game closes. Resumes 60 s after that.</source>
        <translation>hasta que se cierre tu juego. Se reanuda 60 s después.</translation>
    </message>
    <message>
        <source>your game has closed. Resumes {until}.</source>
        <translation>tu juego se cerró. Se reanuda {until}.</translation>
    </message>
    <message>
        <source>round {round} is the last one. Then lending stops, as you asked.</source>
        <translation>la ronda {round} es la última. Después se deja de prestar, como pediste.</translation>
    </message>
    <message>
        <source>what training needs is not installed yet. Resumes when it has been downloaded.</source>
        <translation>aún no está instalado lo que hace falta para entrenar. Se reanuda cuando se haya descargado.</translation>
    </message>
    <message>
        <source>the training program keeps failing. Contribute tries again; Activity has the log.</source>
        <translation>el programa de entrenamiento falla una y otra vez. Contribuir lo intenta de nuevo; Actividad tiene la bitácora.</translation>
    </message>
    <message>
        <source>can't reach the network at {address}. Tequio keeps trying; check your connection, or the address in Settings, Network.</source>
        <translation>no se puede llegar a la red en {address}. Tequio sigue intentándolo; comprueba tu conexión o la dirección en Ajustes, Red.</translation>
    </message>
    <message>
        <source>no network was chosen yet. Choose one with Join a network.</source>
        <translation>aún no se eligió ninguna red. Elige una con «Unirse a una red».</translation>
    </message>
    <message>
        <source>can't reach the network at {address}. Resumes when it answers.</source>
        <translation>no se puede llegar a la red en {address}. Continúa cuando responda.</translation>
    </message>
    <message>
        <source>the other computers of the run cannot be reached. Tequio keeps trying; the listen address is in Settings, Advanced.</source>
        <translation>no se puede llegar a los otros equipos del entrenamiento. Tequio sigue intentándolo; la dirección de escucha está en Ajustes, Avanzado.</translation>
    </message>
    <message>
        <source>no run is open now. Resumes automatically when one opens.</source>
        <translation>ahora no hay ningún entrenamiento abierto. Se reanuda automáticamente cuando se abra uno.</translation>
    </message>
    <message>
        <source>no open run fits this computer. Resumes when one does; Runs says what each needs.</source>
        <translation>ningún entrenamiento abierto va con este equipo. Se reanuda cuando haya uno; en Entrenamientos verás qué pide cada uno.</translation>
    </message>
    <message>
        <source>every open run that fits this device is trained by another one of this computer. Resumes when another one opens.</source>
        <translation>otro dispositivo de este equipo ya participa en cada entrenamiento abierto que le sirve a este. Se reanuda cuando se abra otro.</translation>
    </message>
    <message>
        <source>the run has ended. Resumes with another one; your points stay yours.</source>
        <translation>el entrenamiento terminó. Se reanuda con otro; tus puntos siguen siendo tuyos.</translation>
    </message>
    <message>
        <source>this computer cannot take part in the run ({problem}). See Runs; retries automatically.</source>
        <translation>este equipo no puede participar en el entrenamiento ({problem}). Mira Entrenamientos; se reintenta automáticamente.</translation>
    </message>
    <message>
        <source>the run brings its own code ({plugin}), which needs your consent. See Runs to allow it, or to choose another run.</source>
        <translation>el entrenamiento trae su propio código ({plugin}), que necesita tu consentimiento. Permítelo en Entrenamientos o elige otro.</translation>
    </message>
    <message>
        <source>your key cannot take part now ({problem}). See Activity for what you can do.</source>
        <translation>tu clave no puede participar ahora ({problem}). En Actividad verás qué puedes hacer.</translation>
    </message>
    <message>
        <source>this network needs version {wanted} or newer; this is {own}. Resumes once Tequio is updated.</source>
        <translation>esta red necesita la versión {wanted} o una más nueva; esta es la {own}. Se reanuda cuando Tequio se haya actualizado.</translation>
    </message>
    <message>
        <source>this computer's clock is {minutes} min ahead, so the network refuses its work. Resumes once the clock is set right.</source>
        <translation>el reloj de este equipo va {minutes} min adelantado, y la red rechaza su trabajo. Se reanuda cuando el reloj esté en hora.</translation>
    </message>
    <message>
        <source>this computer's clock is {minutes} min behind, so the network refuses its work. Resumes once the clock is set right.</source>
        <translation>el reloj de este equipo va {minutes} min atrasado, y la red rechaza su trabajo. Se reanuda cuando el reloj esté en hora.</translation>
    </message>
    <message>
        <source>no device is enabled. Turn one on in Hardware.</source>
        <translation>no hay ningún dispositivo activado. Activa uno en Hardware.</translation>
    </message>
    <message>
        <source>{device} has too little memory for this run, which needs {wanted} GB. Raise its limit in Hardware, choose another run, or open a cell with others in your network (tequio cell host).</source>
        <translation>{device} tiene muy poca memoria para este entrenamiento, que pide {wanted} GB. Sube su límite en Hardware, elige otro entrenamiento o abre una célula con otros de tu red (tequio cell host).</translation>
    </message>
    <message>
        <source>only {free} GB of disk space are free, and {wanted} GB should stay free. Resumes when there is 1 GB more than that.</source>
        <translation>solo quedan {free} GB de disco libres y deben quedar {wanted} GB. Continúa cuando haya 1 GB más que eso.</translation>
    </message>
    <message>
        <source>cannot tell how much disk is free. Check that the store's folder is there.</source>
        <translation>no se sabe cuánto disco queda libre. Comprueba que la carpeta del almacén esté ahí.</translation>
    </message>
    <message>
        <source>the store holds {used} GB of at most {most} GB. Resumes when it has been trimmed; its limit is in Settings, Storage.</source>
        <translation>el almacén ocupa {used} GB de {most} GB como máximo. Continúa cuando se haya recortado; su límite está en Ajustes, Almacenamiento.</translation>
    </message>
    <message>
        <source>the computer runs on battery. Resumes on mains power.</source>
        <translation>el equipo funciona con batería. Se reanuda cuando lo enchufes.</translation>
    </message>
    <message>
        <source>cannot tell whether the computer runs on battery. See Health in Activity, or allow lending on battery in Settings, When to lend.</source>
        <translation>no se sabe si el equipo funciona con batería. Mira Salud en Actividad, o permite prestar con batería en Ajustes, Cuándo prestar.</translation>
    </message>
    <message>
        <source>cannot tell whether the computer saves power. See Health in Activity, or allow that in Settings, When to lend.</source>
        <translation>no se sabe si el equipo ahorra energía. Mira Salud en Actividad, o permítelo en Ajustes, Cuándo prestar.</translation>
    </message>
    <message>
        <source>the hardware probe does not answer. Resumes when it does; see Health in Activity.</source>
        <translation>la sonda de hardware no responde. Se reanuda cuando responda; mira Salud en Actividad.</translation>
    </message>
    <message>
        <source>the hardware is being checked. Resumes in a moment.</source>
        <translation>se está comprobando el hardware. Se reanuda en un momento.</translation>
    </message>
    <message>
        <source>power saving is on. Resumes when it is turned off.</source>
        <translation>el ahorro de energía está activado. Se reanuda cuando se desactive.</translation>
    </message>
    <message>
        <source>{device} is at {degrees} °C, above your limit of {limit} °C. Resumes when it is 5 °C below the limit.</source>
        <translation>{device} está a {degrees} °C, por encima de tu límite de {limit} °C. Se reanuda cuando esté 5 °C por debajo del límite.</translation>
    </message>
    <message>
        <source>a game is running ({program}). Resumes 60 s after it closes.</source>
        <translation>hay un juego abierto ({program}). Se reanuda 60 s después de que se cierre.</translation>
    </message>
    <message>
        <source>a game is fullscreen ({program}). Resumes 60 s after it closes.</source>
        <translation>hay un juego a pantalla completa ({program}). Se reanuda 60 s después de que se cierre.</translation>
    </message>
    <message>
        <source>a film is fullscreen ({program}). Resumes 60 s after it closes.</source>
        <translation>hay una película a pantalla completa ({program}). Se reanuda 60 s después de que se cierre.</translation>
    </message>
    <message>
        <source>{program} is running, and you want nothing lent beside it. Resumes 60 s after it closes.</source>
        <translation>{program} está abierto, y no quieres que se preste nada a su lado. Se reanuda 60 s después de que se cierre.</translation>
    </message>
    <message>
        <source>a game or another exclusive program has just closed. Resumes {until}.</source>
        <translation>acaba de cerrarse un juego u otro programa exclusivo. Se reanuda {until}.</translation>
    </message>
    <message>
        <source>outside the hours in which you lend. Resumes {until}.</source>
        <translation>fuera de las horas en que prestas. Se reanuda {until}.</translation>
    </message>
    <message>
        <source>no hour of the week is chosen. Choose some in Settings, When to lend.</source>
        <translation>no hay ninguna hora de la semana elegida. Elige algunas en Ajustes, Cuándo prestar.</translation>
    </message>
    <message>
        <source>this month's {gb} GB of traffic are used up. Resumes {until}.</source>
        <translation>se gastaron los {gb} GB de tráfico de este mes. Se reanuda {until}.</translation>
    </message>
    <message>
        <source>this network is metered. Resumes on another network.</source>
        <translation>esta red es de uso medido. Se reanuda en otra red.</translation>
    </message>
    <message>
        <source>cannot tell whether this network is metered. See Health in Activity, or allow metered networks in Settings, Network.</source>
        <translation>no se sabe si esta red es de uso medido. Mira Salud en Actividad, o permite las redes de uso medido en Ajustes, Red.</translation>
    </message>
    <message>
        <source>you are using the computer. Resumes after {minutes} min without input.</source>
        <translation>estás usando el equipo. Se reanuda tras {minutes} min sin actividad.</translation>
    </message>
    <message>
        <source>cannot tell whether you are away. See Health in Activity.</source>
        <translation>no se sabe si estás fuera. Mira Salud en Actividad.</translation>
    </message>
    <message>
        <source>cannot tell whether you are away: nothing is known of your session. Resumes when its probes answer; see Health in Activity.</source>
        <translation>no se sabe si estás fuera: no se sabe nada de tu sesión. Se reanuda cuando respondan sus sondas; mira Salud en Actividad.</translation>
    </message>
    <message>
        <source>cannot tell when you last touched the computer. Resumes when it is locked; see Health in Activity.</source>
        <translation>no se sabe cuándo tocaste el equipo por última vez. Se reanuda cuando esté bloqueado; mira Salud en Actividad.</translation>
    </message>
    <message>
        <source>cannot tell whether a program fills the screen. Resumes when the computer is locked; see Health in Activity, or switch off pausing for games in Settings, When to lend.</source>
        <translation>no se sabe si un programa llena la pantalla. Se reanuda cuando el equipo esté bloqueado; mira Salud en Actividad, o desactiva la pausa con juegos en Ajustes, Cuándo prestar.</translation>
    </message>
    <message>
        <source>cannot tell whether a game is running. See Health in Activity, or switch off pausing for games in Settings, When to lend.</source>
        <translation>no se sabe si hay un juego abierto. Mira Salud en Actividad, o desactiva la pausa con juegos en Ajustes, Cuándo prestar.</translation>
    </message>
    <message>
        <source>cannot tell whether one of your exclusive programs is running. See Health in Activity, or empty their list in Settings, When to lend.</source>
        <translation>no se sabe si está abierto uno de tus programas exclusivos. Mira Salud en Actividad, o vacía su lista en Ajustes, Cuándo prestar.</translation>
    </message>
    <message>
        <source>another user is using this computer. Resumes when they have logged out.</source>
        <translation>otro usuario está usando este equipo. Se reanuda cuando cierre la sesión.</translation>
    </message>
    <message>
        <source>other programs are using {percent}% of {device}. Resumes 60 s after they finish.</source>
        <translation>otros programas usan el {percent} % de {device}. Se reanuda 60 s después de que acaben.</translation>
    </message>
    <message>
        <source>other programs needed {device}. Resumes {until}.</source>
        <translation>otros programas necesitaron {device}. Se reanuda {until}.</translation>
    </message>
    <message>
        <source>other programs are using {percent}% of your CPU. Resumes below {below}%.</source>
        <translation>otros programas usan el {percent} % de tu CPU. Se reanuda por debajo del {below} %.</translation>
    </message>
    <message>
        <source>cannot tell how much CPU other programs use. See Health in Activity, or set that limit to 100% in Settings, When to lend.</source>
        <translation>no se sabe cuánta CPU usan otros programas. Mira Salud en Actividad, o pon ese límite al 100 % en Ajustes, Cuándo prestar.</translation>
    </message>
    <message>
        <source>{device} has {free} GB of memory free and training needs {wanted} GB. Resumes when other programs give it back.</source>
        <translation>{device} tiene {free} GB de memoria libres y entrenar pide {wanted} GB. Se reanuda cuando otros programas la devuelvan.</translation>
    </message>
    <message>
        <source>cannot tell what the graphics cards do: their probe does not answer. Resumes when it does; see Health in Activity.</source>
        <translation>no se sabe qué hacen las tarjetas gráficas: su sonda no responde. Se reanuda cuando responda; mira Salud en Actividad.</translation>
    </message>
    <message>
        <source>the graphics cards are being checked. Resumes in a moment.</source>
        <translation>se están comprobando las tarjetas gráficas. Se reanuda en un momento.</translation>
    </message>
    <message>
        <source>cannot tell how busy other programs keep {device}. See Health in Activity, or set that limit to 100% in Settings, When to lend.</source>
        <translation>no se sabe cuánto ocupan {device} otros programas. Mira Salud en Actividad, o pon ese límite en 100 % en Ajustes, Cuándo prestar.</translation>
    </message>
    <message>
        <source>cannot tell how much memory of {device} is free. See Health in Activity.</source>
        <translation>no se sabe cuánta memoria de {device} queda libre. Mira Salud en Actividad.</translation>
    </message>
    <message>
        <source>training was slowed down: another program needs the device. Resumes {until}.</source>
        <translation>el entrenamiento se frenó: otro programa necesita el dispositivo. Se reanuda {until}.</translation>
    </message>
    <message>
        <source>in {seconds} s</source>
        <translation>en {seconds} s</translation>
    </message>
    <message>
        <source>in {minutes} min</source>
        <translation>en {minutes} min</translation>
    </message>
    <message>
        <source>at {time}</source>
        <translation>a las {time}</translation>
    </message>
    <message>
        <source>on {weekday} at {time}</source>
        <translation>el {weekday} a las {time}</translation>
    </message>
    <message>
        <source>on {date} at {time}</source>
        <translation>el {date} a las {time}</translation>
    </message>
    <message>
        <source>Started, version {version}.</source>
        <translation>Arrancó, versión {version}.</translation>
    </message>
    <message>
        <source>Your settings were changed.</source>
        <translation>Cambiaron tus ajustes.</translation>
    </message>
    <message>
        <source>Joined the run {run}.</source>
        <translation>Entró en el entrenamiento {run}.</translation>
    </message>
    <message>
        <source>Left the run {run}.</source>
        <translation>Dejó el entrenamiento {run}.</translation>
    </message>
    <message>
        <source>The run {run} has ended.</source>
        <translation>El entrenamiento {run} terminó.</translation>
    </message>
    <message>
        <source>{run}, round {round}: your work was accepted, for {points} points.</source>
        <translation>{run}, ronda {round}: se aceptó tu trabajo, por {points} puntos.</translation>
    </message>
    <message>
        <source>{run}, round {round}: {points} points for checking others' work.</source>
        <translation>{run}, ronda {round}: {points} puntos por comprobar el trabajo de otros.</translation>
    </message>
    <message>
        <source>{run}, round {round}: {points} points that another key shared with yours.</source>
        <translation>{run}, ronda {round}: {points} puntos que otra clave ha compartido con la tuya.</translation>
    </message>
    <message>
        <source>{run}, round {round}: you were not asked to do anything that earns points.</source>
        <translation>{run}, ronda {round}: no se te pidió nada que dé puntos.</translation>
    </message>
    <message>
        <source>{run}, round {round}: too few witnesses received your work in time. This does not count against you.</source>
        <translation>{run}, ronda {round}: muy pocos testigos recibieron tu trabajo a tiempo. No cuenta en tu contra.</translation>
    </message>
    <message>
        <source>{run}, round {round}: the round ended without your work.</source>
        <translation>{run}, ronda {round}: la ronda acabó sin tu trabajo.</translation>
    </message>
    <message>
        <source>{run}, round {round}: the round is void, and its work is assigned again.</source>
        <translation>{run}, ronda {round}: la ronda es nula, y su trabajo se reparte de nuevo.</translation>
    </message>
    <message>
        <source>{run}, round {round}: the witnesses refused your work ({reason}).</source>
        <translation>{run}, ronda {round}: los testigos rechazaron tu trabajo ({reason}).</translation>
    </message>
    <message>
        <source>{run}, round {round}: {points} points for repeating another volunteer's work of round {audited}.</source>
        <translation>{run}, ronda {round}: {points} puntos por repetir el trabajo de otra persona voluntaria de la ronda {audited}.</translation>
    </message>
    <message>
        <source>{run}, round {round}: the round ended without your audit.</source>
        <translation>{run}, ronda {round}: la ronda terminó sin tu auditoría.</translation>
    </message>
    <message>
        <source>You were chosen to repeat another volunteer's work of round {round}. This computer could not: {declined}. You are not asked again for a while; your training goes on.</source>
        <translation>Te tocó repetir el trabajo de otra persona voluntaria de la ronda {round}. Este equipo no pudo: {declined}. No te volverá a tocar durante un tiempo; tu entrenamiento sigue.</translation>
    </message>
    <message>
        <source>Another volunteer repeated your work of round {round}. It counts, but the results differ slightly more than usual. Unusual hardware can cause this. To be sure, measure your device again in Hardware.</source>
        <translation>Otra persona voluntaria repitió tu trabajo de la ronda {round}. Cuenta, pero los resultados difieren un poco más de lo habitual. Puede deberse a un equipo poco común. Para estar seguro, mide otra vez tu dispositivo en Hardware.</translation>
    </message>
    <message>
        <source>Your key is now {standing}. Other volunteers repeated the same work in an audit and got other results than you. Often the computer is at fault: measure its device again in Hardware, update the graphics driver, and test the memory (RAM). If that finds nothing, you can appeal in Settings, Account and keys.</source>
        <translation>Tu clave está ahora {standing}. Otras personas voluntarias repitieron el mismo trabajo en una auditoría y obtuvieron otros resultados que tú. A menudo falla el equipo: mide otra vez su dispositivo en Hardware, actualiza el controlador gráfico y prueba la memoria (RAM). Si no encuentras nada, puedes apelar en Ajustes, Cuenta y claves.</translation>
    </message>
    <message>
        <source>The ledger says that you have {ledger} points, but its log proves {proven}. What is not proven is not counted here.</source>
        <translation>El registro dice que tienes {ledger} puntos, pero su bitácora prueba {proven}. Lo que no está probado no se cuenta aquí.</translation>
    </message>
    <message>
        <source>{run}: downloaded and verified the model from round {round}.</source>
        <translation>{run}: se ha descargado y verificado el modelo de la ronda {round}.</translation>
    </message>
    <message>
        <source>Your key is now {standing}.</source>
        <translation>Situación de tu clave: {standing}.</translation>
    </message>
    <message>
        <source>Your key is now {standing}. Reason: {cause}. If that is wrong, you can appeal in Settings, Account and keys.</source>
        <translation>Tu clave está ahora {standing}. Motivo: {cause}. Si no es cierto, puedes apelar en Ajustes, Cuenta y claves.</translation>
    </message>
    <message>
        <source>The network cannot be reached. Work goes on without it for a while.</source>
        <translation>No se puede llegar a la red. El trabajo sigue sin ella por un tiempo.</translation>
    </message>
    <message>
        <source>The ledger can be reached again.</source>
        <translation>Otra vez se llega al registro.</translation>
    </message>
    <message>
        <source>The ledger shows another log than before ({problem}). Its answers are no longer trusted.</source>
        <translation>El registro muestra otro historial que antes ({problem}). Ya no se confía en sus respuestas.</translation>
    </message>
    <message>
        <source>The training program stopped unexpectedly and was restarted.</source>
        <translation>El programa de entrenamiento se detuvo inesperadamente y se ha reiniciado.</translation>
    </message>
    <message>
        <source>A file was damaged or belongs to another program. It was kept as {file}, and a new one was started.</source>
        <translation>Un archivo estaba dañado o es de otro programa. Se ha guardado como {file}, y se ha empezado uno nuevo.</translation>
    </message>
    <message>
        <source>This computer's clock was changed by {seconds} s.</source>
        <translation>El reloj de este equipo ha cambiado {seconds} s.</translation>
    </message>
    <message>
        <source>It is not known yet whether other computers can connect to this one.</source>
        <translation>Todavía no se sabe si otros equipos pueden conectarse a este.</translation>
    </message>
    <message>
        <source>Other computers can connect to this one.</source>
        <translation>Otros equipos pueden conectarse a este.</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, because your router is in between. Nothing is lost: your work travels through seeds. To change it, let Tequio open a port on the router in Settings, Network, or forward TCP port {port} to this computer there.</source>
        <translation>Otros equipos no pueden conectarse a este, porque tu router está en medio. No se pierde nada: tu trabajo viaja a través de las semillas. Para cambiarlo, deja que Tequio abra un puerto en el router en Ajustes, Red, o redirige allí el puerto TCP {port} a este equipo.</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, probably because of a firewall. Nothing is lost: your work travels through seeds. To change it, allow incoming connections to TCP port {port}.</source>
        <translation>Otros equipos no pueden conectarse a este, probablemente por un cortafuegos. No se pierde nada: tu trabajo viaja a través de las semillas. Para cambiarlo, permite las conexiones entrantes al puerto TCP {port}.</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one yet. Tequio is asking your router to open a port.</source>
        <translation>Otros equipos todavía no pueden conectarse a este. Tequio está pidiendo a tu router que abra un puerto.</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, although your router has opened a port: another router or a firewall is in between. Nothing is lost: your work travels through seeds.</source>
        <translation>Otros equipos no pueden conectarse a este, aunque tu router ha abierto un puerto: hay otro router o un cortafuegos en medio. No se pierde nada: tu trabajo viaja a través de las semillas.</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, and no router answers by UPnP or NAT-PMP. Nothing is lost: your work travels through seeds. To change it, switch UPnP on in your router, or forward TCP port {port} to this computer there.</source>
        <translation>Otros equipos no pueden conectarse a este, y ningún router responde por UPnP o NAT-PMP. No se pierde nada: tu trabajo viaja a través de las semillas. Para cambiarlo, activa UPnP en tu router o redirige allí el puerto TCP {port} a este equipo.</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, and your router refused to open a port ({problem}). Nothing is lost: your work travels through seeds. To change it, forward TCP port {port} to this computer in your router.</source>
        <translation>Otros equipos no pueden conectarse a este, y tu router se negó a abrir un puerto ({problem}). No se pierde nada: tu trabajo viaja a través de las semillas. Para cambiarlo, redirige el puerto TCP {port} a este equipo en tu router.</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, because your router is behind another one: your provider's, or your building's. Nothing is lost: your work travels through seeds. Only your provider can change it, with a public address.</source>
        <translation>Otros equipos no pueden conectarse a este, porque tu router está detrás de otro: el de tu proveedor o el de tu edificio. No se pierde nada: tu trabajo viaja a través de las semillas. Solo tu proveedor puede cambiarlo, con una dirección pública.</translation>
    </message>
    <message>
        <source>Other members can still connect directly, when a seed introduces you to each other.</source>
        <translation>Otros miembros aún pueden conectarse directamente cuando una semilla los pone en contacto.</translation>
    </message>
    <message>
        <source>Seeds cannot introduce you to other members, because your router gives each connection another port.</source>
        <translation>Las semillas no pueden ponerte en contacto con otros miembros, porque tu router da a cada conexión un puerto distinto.</translation>
    </message>
    <message>
        <source>An event that this version does not know ({code}).</source>
        <translation>Un evento que esta versión no conoce ({code}).</translation>
    </message>
    <message>
        <source>for a reason that this version does not know ({reason})</source>
        <translation>por un motivo que esta versión no conoce ({reason})</translation>
    </message>
    <message>
        <source>Pending</source>
        <translation>Pendiente</translation>
    </message>
    <message>
        <source>Verified</source>
        <translation>Verificada</translation>
    </message>
    <message>
        <source>Rejected</source>
        <translation>Rechazada</translation>
    </message>
    <message>
        <source>the round is void; its work is assigned again</source>
        <translation>la ronda es nula; su trabajo se reparte de nuevo</translation>
    </message>
    <message>
        <source>the round ended without your work</source>
        <translation>la ronda acabó sin tu trabajo</translation>
    </message>
    <message>
        <source>too few witnesses received your work in time; this does not count against you</source>
        <translation>muy pocos testigos recibieron tu trabajo a tiempo; no cuenta en tu contra</translation>
    </message>
    <message>
        <source>you were not asked to do anything that earns points</source>
        <translation>no se te pidió nada que dé puntos</translation>
    </message>
    <message>
        <source>the round ended without your audit</source>
        <translation>la ronda terminó sin tu auditoría</translation>
    </message>
    <message>
        <source>the witnesses gave no reason</source>
        <translation>los testigos no dieron ninguna razón</translation>
    </message>
    <message>
        <source>the contribution had the wrong length</source>
        <translation>la contribución tenía una longitud equivocada</translation>
    </message>
    <message>
        <source>the contribution was not in the right format</source>
        <translation>la contribución no tenía el formato correcto</translation>
    </message>
    <message>
        <source>the contribution was in a format of another version</source>
        <translation>la contribución tenía el formato de otra versión</translation>
    </message>
    <message>
        <source>the contribution did not have the shape of the model</source>
        <translation>la contribución no tenía la forma del modelo</translation>
    </message>
    <message>
        <source>the contribution had marks that are not allowed</source>
        <translation>la contribución tenía marcas que no se permiten</translation>
    </message>
    <message>
        <source>the contribution was for another run</source>
        <translation>la contribución era de otro entrenamiento</translation>
    </message>
    <message>
        <source>the contribution was for another round</source>
        <translation>la contribución era de otra ronda</translation>
    </message>
    <message>
        <source>the work began from another version of the model</source>
        <translation>el trabajo partió de otra versión del modelo</translation>
    </message>
    <message>
        <source>the contribution named another trainer</source>
        <translation>la contribución nombraba a otro entrenador</translation>
    </message>
    <message>
        <source>the work used other text than was given out</source>
        <translation>el trabajo usó otro texto que el repartido</translation>
    </message>
    <message>
        <source>the number of tokens was not what was given out</source>
        <translation>el número de tokens no era el repartido</translation>
    </message>
    <message>
        <source>the number of steps was not what was given out</source>
        <translation>el número de pasos no era el repartido</translation>
    </message>
    <message>
        <source>the bytes were not those that were promised</source>
        <translation>los bytes no eran los prometidos</translation>
    </message>
    <message>
        <source>a scale in the contribution was not allowed</source>
        <translation>una escala de la contribución no se permite</translation>
    </message>
    <message>
        <source>the contribution had something where there must be nothing</source>
        <translation>la contribución tenía algo donde no debe haber nada</translation>
    </message>
    <message>
        <source>a block of the contribution had too many or too few values</source>
        <translation>un bloque de la contribución tenía valores de más o de menos</translation>
    </message>
    <message>
        <source>the contribution named a place outside of the model</source>
        <translation>la contribución nombraba un lugar fuera del modelo</translation>
    </message>
    <message>
        <source>the places in the contribution were out of order</source>
        <translation>los lugares de la contribución estaban desordenados</translation>
    </message>
    <message>
        <source>a value in the contribution was not allowed</source>
        <translation>un valor de la contribución no se permite</translation>
    </message>
    <message>
        <source>the contribution was empty</source>
        <translation>la contribución estaba vacía</translation>
    </message>
    <message>
        <source>the commitment was made without the contribution</source>
        <translation>el compromiso se hizo sin tener la contribución</translation>
    </message>
    <message>
        <source>the contribution was far larger than the others</source>
        <translation>la contribución era mucho más grande que las demás</translation>
    </message>
    <message>
        <source>the contribution pointed away from what the witnesses measured themselves</source>
        <translation>la contribución apuntaba lejos de lo que midieron los propios testigos</translation>
    </message>
    <message>
        <source>the contribution was nearly the same as an earlier one</source>
        <translation>la contribución era casi igual a una anterior</translation>
    </message>
    <message>
        <source>new</source>
        <translation>nueva</translation>
    </message>
    <message>
        <source>active</source>
        <translation>activa</translation>
    </message>
    <message>
        <source>under watch, and trains on as before</source>
        <translation>en observación, y sigue entrenando como antes</translation>
    </message>
    <message>
        <source>quarantined: it serves the swarm, and does not train until that is over</source>
        <translation>en cuarentena: sirve al enjambre y no entrena hasta que eso termine</translation>
    </message>
    <message>
        <source>on probation, and trains again</source>
        <translation>a prueba, y entrena otra vez</translation>
    </message>
    <message>
        <source>banned, and in no roster any more</source>
        <translation>excluida, y ya no está en ninguna lista</translation>
    </message>
    <message>
        <source>revoked: it can do nothing more</source>
        <translation>revocada: ya no puede hacer nada</translation>
    </message>
    <message>
        <source>replaced by another key, and can do nothing more</source>
        <translation>reemplazada por otra clave, y ya no puede hacer nada</translation>
    </message>
    <message>
        <source>enough contributions were accepted</source>
        <translation>se aceptaron suficientes contribuciones</translation>
    </message>
    <message>
        <source>signed two different commitments for one round</source>
        <translation>firmó dos compromisos distintos para una ronda</translation>
    </message>
    <message>
        <source>signed two different statements under one number</source>
        <translation>firmó dos declaraciones distintas con un mismo número</translation>
    </message>
    <message>
        <source>signed a contribution header that breaks a rule</source>
        <translation>firmó una cabecera de contribución que infringe una regla</translation>
    </message>
    <message>
        <source>committed to bytes that break a rule</source>
        <translation>se comprometió con unos bytes que infringen una regla</translation>
    </message>
    <message>
        <source>signed a witness proof without having been elected</source>
        <translation>firmó una prueba de testigo sin haber sido elegida</translation>
    </message>
    <message>
        <source>signed an invalid witness proof</source>
        <translation>firmó una prueba de testigo no válida</translation>
    </message>
    <message>
        <source>vouched for a contribution without having its bytes</source>
        <translation>dio por buena una contribución sin tener sus bytes</translation>
    </message>
    <message>
        <source>a contribution was far from the others, according to two witnesses</source>
        <translation>según dos testigos, una contribución quedó lejos de las demás</translation>
    </message>
    <message>
        <source>witness proofs were contradicted by the other witnesses</source>
        <translation>los demás testigos contradijeron sus pruebas</translation>
    </message>
    <message>
        <source>the term of a quarantine is over</source>
        <translation>terminó el plazo de una cuarentena</translation>
    </message>
    <message>
        <source>no organiser answered an appeal in time</source>
        <translation>ningún organizador respondió a tiempo a una apelación</translation>
    </message>
    <message>
        <source>accused somebody of a fault that the evidence does not show</source>
        <translation>acusó a alguien de una falta que la evidencia no muestra</translation>
    </message>
    <message>
        <source>a contribution was not the training that it claimed, as its auditors agree</source>
        <translation>una contribución no era el entrenamiento que decía ser; en eso coinciden sus auditores</translation>
    </message>
    <message>
        <source>an audit was contradicted by the other auditors</source>
        <translation>los demás auditores contradijeron una auditoría</translation>
    </message>
    <message>
        <source>further audits were contradicted by the other auditors</source>
        <translation>los demás auditores contradijeron más auditorías</translation>
    </message>
    <message>
        <source>was there, and did not open contributions to their auditors</source>
        <translation>estaba presente y no abrió sus contribuciones a quienes las auditaban</translation>
    </message>
    <message>
        <source>contributions did not help more on their own windows than on others, according to the witnesses of many rounds</source>
        <translation>sus contribuciones no ayudaron más en sus propias ventanas que en otras, según los testigos de muchas rondas</translation>
    </message>
    <message>
        <source>it was not in the run in that round</source>
        <translation>no participaba en el entrenamiento en esa ronda</translation>
    </message>
    <message>
        <source>it has not read an earlier audit of that work</source>
        <translation>no ha leído una auditoría anterior de ese trabajo</translation>
    </message>
    <message>
        <source>it no longer has the model of that round, or its copy is damaged</source>
        <translation>ya no tiene el modelo de esa ronda, o su copia está dañada</translation>
    </message>
    <message>
        <source>the data did not arrive in time</source>
        <translation>los datos no llegaron a tiempo</translation>
    </message>
    <message>
        <source>the training program could not repeat it</source>
        <translation>el programa de entrenamiento no pudo repetirlo</translation>
    </message>
    <message>
        <source>the disk could not be written</source>
        <translation>no se pudo escribir en el disco</translation>
    </message>
    <message>
        <source>Auditing</source>
        <translation>Auditando</translation>
    </message>
    <message>
        <source>Repeating another volunteer's work of round {round}. You are paid as for training.</source>
        <translation>Repitiendo el trabajo de otra persona voluntaria de la ronda {round}. Se paga como el entrenamiento.</translation>
    </message>
</context>
</TS>
