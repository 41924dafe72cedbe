<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="es_ES">
<context>
    <name>Caps</name>
    <message>
        <source>Memory</source>
        <translation>Memoria</translation>
    </message>
    <message>
        <source>Upload</source>
        <translation>Subida</translation>
    </message>
    <message>
        <source>VRAM</source>
        <translation>VRAM</translation>
    </message>
    <message>
        <source>Month</source>
        <translation>Mes</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>Disco</translation>
    </message>
    <message>
        <source>{used} of {most}</source>
        <translation>{used} de {most}</translation>
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
        <source>Each day's verified points will stand here, from your first round on.</source>
        <translation>Aquí aparecerán los puntos verificados de cada día, desde tu primera ronda.</translation>
    </message>
    <message>
        <source>{total} points in {days} days; most on {day}: {peak}</source>
        <translation>{total} puntos en {days} días; el mejor, el {day}: {peak}</translation>
    </message>
</context>
<context>
    <name>Header</name>
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
        <translation>Termina la ronda en curso para no perder su trabajo.</translation>
    </message>
    <message>
        <source>Starting</source>
        <translation>Iniciando</translation>
    </message>
    <message>
        <source>The worker is being started.</source>
        <translation>Se está iniciando el programa de trabajo.</translation>
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
        <translation>Se detiene al instante y libera el dispositivo.</translation>
    </message>
    <message>
        <source>Set up</source>
        <translation>Configurar</translation>
    </message>
    <message>
        <source>Go on now</source>
        <translation>Seguir ya</translation>
    </message>
    <message>
        <source>Contribute</source>
        <translation>Contribuir</translation>
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
        <source>Until this game closes</source>
        <translation>Hasta que se cierre este juego</translation>
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
        <source>The ledger does not answer. It will be asked again.</source>
        <translation>El registro no responde. Se le volverá a preguntar.</translation>
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
        <source>You</source>
        <translation>Tú</translation>
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
        <source>Joining a run</source>
        <translation>Entrando en un entrenamiento</translation>
    </message>
    <message>
        <source>The model and its data are fetched once; then the first round begins.</source>
        <translation>El modelo y sus datos se descargan una vez; después empieza la primera ronda.</translation>
    </message>
    <message>
        <source>No round yet</source>
        <translation>Aún sin ronda</translation>
    </message>
    <message>
        <source>When you contribute, this computer joins a run and trains round by round.</source>
        <translation>Cuando contribuyas, este equipo se unirá a un entrenamiento y trabajará ronda a ronda.</translation>
    </message>
    <message>
        <source>of round</source>
        <translation>de la ronda</translation>
    </message>
    <message>
        <source>Trainer</source>
        <translation>Entrena</translation>
    </message>
    <message>
        <source>Witness</source>
        <translation>Verifica</translation>
    </message>
    <message>
        <source>No role yet</source>
        <translation>Aún sin papel</translation>
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
        <source>%n peer(s)</source>
        <translation>
            <numerusform>%n par</numerusform>
            <numerusform>%n pares</numerusform>
        </translation>
    </message>
    <message>
        <source>{time} left</source>
        <translation>quedan {time}</translation>
    </message>
</context>
<context>
    <name>StateChip</name>
    <message>
        <source>Starting</source>
        <translation>Iniciando</translation>
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
        <source>{points} points</source>
        <translation>{points} puntos</translation>
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
    <message>
        <source>of {ranked} volunteers</source>
        <translation>de {ranked} voluntarios</translation>
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
        <source>{energy} in all</source>
        <translation>{energy} en total</translation>
    </message>
    <message>
        <source>Estimated, {total}</source>
        <translation>Estimado, {total}</translation>
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
    <name>figures</name>
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
        <source>tomorrow {time}</source>
        <translation>mañana {time}</translation>
    </message>
</context>
<context>
    <name>pages</name>
    <message>
        <source>Home</source>
        <translation>Inicio</translation>
    </message>
</context>
<context>
    <name>remedies</name>
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
        <source>Try again</source>
        <translation>Reintentar</translation>
    </message>
    <message>
        <source>The graphics driver is too old to train with.</source>
        <translation>El controlador gráfico es demasiado antiguo para entrenar.</translation>
    </message>
    <message>
        <source>Your key has no backup: if this disk fails, your points cannot be claimed.</source>
        <translation>Tu clave no tiene copia: si falla este disco, no podrás reclamar tus puntos.</translation>
    </message>
    <message>
        <source>The disk is nearly full.</source>
        <translation>El disco está casi lleno.</translation>
    </message>
    <message>
        <source>A newer Tequio is needed to take part.</source>
        <translation>Hace falta un Tequio más nuevo para participar.</translation>
    </message>
    <message>
        <source>The ledger's address has to be checked.</source>
        <translation>Hay que revisar la dirección del registro.</translation>
    </message>
    <message>
        <source>A device cannot be used.</source>
        <translation>Un dispositivo no se puede usar.</translation>
    </message>
    <message>
        <source>Your key's standing in the network has changed.</source>
        <translation>La situación de tu clave en la red ha cambiado.</translation>
    </message>
    <message>
        <source>This computer's clock is wrong.</source>
        <translation>El reloj de este equipo está mal.</translation>
    </message>
    <message>
        <source>The ledger has not answered since {since}. Work goes on, and points follow later.</source>
        <translation>El registro no responde desde {since}. El trabajo sigue y los puntos llegarán después.</translation>
    </message>
    <message>
        <source>Statements that wait here for it: {waiting}.</source>
        <translation>Declaraciones que lo esperan aquí: {waiting}.</translation>
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
        <source>nobody needs the computer. Pauses when you come back or start a game.</source>
        <translation>nadie necesita el equipo. Se detiene cuando vuelvas o empieces un juego.</translation>
    </message>
    <message>
        <source>gently, at {share} % of the time, while you use the computer. Pauses for games.</source>
        <translation>con suavidad, el {share} % del tiempo, mientras usas el equipo. Se detiene con los juegos.</translation>
    </message>
    <message>
        <source>nothing is lent before you agree to it. Choose when to lend, then Contribute.</source>
        <translation>no se presta nada hasta que estés de acuerdo. Elige cuándo prestar y pulsa Contribuir.</translation>
    </message>
    <message>
        <source>you paused it. Resumes when you choose Contribute.</source>
        <translation>lo has pausado. Sigue cuando pulses Contribuir.</translation>
    </message>
    <message>
        <source>the last round is finished, as you asked. Resumes when you choose Contribute.</source>
        <translation>la última ronda ha terminado, como pediste. Sigue cuando pulses Contribuir.</translation>
    </message>
    <message>
        <source>you asked for a break. Resumes by itself.</source>
        <translation>pediste un descanso. Sigue solo.</translation>
    </message>
    <message>
        <source>you asked for a break. Resumes {until}.</source>
        <translation>pediste un descanso. Sigue {until}.</translation>
    </message>
    <message>
        <source>until {program} closes. Resumes 60 s after that.</source>
        <translation>hasta que se cierre {program}. Sigue 60 s después.</translation>
    </message>
    <message>
        <source>until your game closes. Resumes 60 s after that.</source>
        <translation>hasta que se cierre tu juego. Sigue 60 s después.</translation>
    </message>
    <message>
        <source>your game has closed. Resumes {until}.</source>
        <translation>tu juego se ha cerrado. Sigue {until}.</translation>
    </message>
    <message>
        <source>round {round} is the last one. Then lending stops, as you asked.</source>
        <translation>la ronda {round} es la última. Después se deja de prestar, como pediste.</translation>
    </message>
    <message>
        <source>the training program keeps failing ({problem}). Contribute tries again; Activity has the log.</source>
        <translation>el programa de entrenamiento falla una y otra vez ({problem}). Contribuir lo reintenta; el registro está en Actividad.</translation>
    </message>
    <message>
        <source>your key cannot be used ({problem}). See Settings, Account and keys.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the ledger has never been reached ({problem}). Tries again by itself; check its address in Settings, Advanced.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the ledger does not answer ({problem}). Resumes when it does.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the swarm cannot be joined ({problem}). Tries again by itself; the addresses are in Settings, Advanced.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no run is open now. Resumes when one opens: there is nothing to do.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no open run fits this computer. Resumes when one does; Runs says what each needs.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the run has ended. Resumes with another one; your points stay yours.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>this computer cannot take part in the run ({problem}). See Runs; it is tried again by itself.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no roster takes your key now ({problem}). Activity says what you can do.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>there is no device to lend. Switch one on in Hardware.</source>
        <translation>no hay dispositivo que prestar. Activa uno en Hardware.</translation>
    </message>
    <message>
        <source>{device} has too little memory for this run, which needs {wanted} MiB. Raise its limit in Hardware or choose another run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>only {free} GiB of disk are free and {wanted} GiB shall stay free. Resumes when there is 1 GiB more than that.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot tell how much disk is free. Check that the store's folder is there.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the store holds {used} GiB of at most {most} GiB. Resumes when it has been trimmed; its limit is in Settings, Storage.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the computer runs on battery. Resumes on mains power.</source>
        <translation>el equipo funciona con batería. Sigue con corriente.</translation>
    </message>
    <message>
        <source>cannot tell whether the computer runs on battery. See Health in Activity, or allow lending on battery in Settings, When to lend.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot tell whether the computer saves power. See Health in Activity, or allow that in Settings, When to lend.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the hardware probe does not answer. Resumes when it does; see Health in Activity.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the system saves power. Resumes when that is switched off.</source>
        <translation>el sistema ahorra energía. Sigue cuando se desactive.</translation>
    </message>
    <message>
        <source>{device} has {degrees} °C and shall stay below {limit} °C. Resumes when it is 5 °C cooler than that.</source>
        <translation>{device} está a {degrees} °C y debe quedar por debajo de {limit} °C. Sigue cuando baje 5 °C más.</translation>
    </message>
    <message>
        <source>a game is running ({program}). Resumes 60 s after it closes.</source>
        <translation>hay un juego abierto ({program}). Sigue 60 s después de que se cierre.</translation>
    </message>
    <message>
        <source>a game is fullscreen ({program}). Resumes 60 s after it closes.</source>
        <translation>hay un juego a pantalla completa ({program}). Sigue 60 s después de que se cierre.</translation>
    </message>
    <message>
        <source>a film is fullscreen ({program}). Resumes 60 s after it closes.</source>
        <translation>hay una película a pantalla completa ({program}). Sigue 60 s después de que se cierre.</translation>
    </message>
    <message>
        <source>{program} is running, and you want nothing lent beside it. Resumes 60 s after it closes.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a game or another exclusive program has just closed. Resumes {until}.</source>
        <translation>acaba de cerrarse un juego u otro programa exclusivo. Sigue {until}.</translation>
    </message>
    <message>
        <source>outside the hours in which you lend. Resumes {until}.</source>
        <translation>fuera de las horas en que prestas. Sigue {until}.</translation>
    </message>
    <message>
        <source>no hour of the week is chosen. Choose some in Settings, When to lend.</source>
        <translation>no hay ninguna hora elegida. Elige algunas en Ajustes, Cuándo prestar.</translation>
    </message>
    <message>
        <source>this month's {gb} GB of traffic are used up. Resumes {until}.</source>
        <translation>se han gastado los {gb} GB de tráfico de este mes. Sigue {until}.</translation>
    </message>
    <message>
        <source>this network is metered. Resumes on another network.</source>
        <translation>esta red es de uso medido. Sigue en otra red.</translation>
    </message>
    <message>
        <source>cannot tell whether this network is metered. See Health in Activity, or allow metered networks in Settings, Network.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>you are using the computer. Resumes after {minutes} min without input.</source>
        <translation>estás usando el equipo. Sigue tras {minutes} min sin actividad.</translation>
    </message>
    <message>
        <source>cannot tell whether you are away. See Health in Activity.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot tell whether you are away: nothing is known of your session. Resumes when its probes answer; see Health in Activity.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot tell when you last touched the computer. Resumes when it is locked; see Health in Activity.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot tell whether a program fills the screen. Resumes when the computer is locked; see Health in Activity, or switch off pausing for games in Settings, When to lend.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot tell whether a game is running. See Health in Activity, or switch off pausing for games in Settings, When to lend.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot tell whether one of your exclusive programs is running. See Health in Activity, or empty their list in Settings, When to lend.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>other programs keep {device} {percent} % busy. Resumes 60 s after that.</source>
        <translation>otros programas ocupan {device} al {percent} %. Sigue 60 s después de eso.</translation>
    </message>
    <message>
        <source>other programs needed {device}. Resumes {until}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>other programs keep the processor {percent} % busy. Resumes 60 s after that.</source>
        <translation>otros programas ocupan el procesador al {percent} %. Sigue 60 s después de eso.</translation>
    </message>
    <message>
        <source>other programs needed the processor. Resumes {until}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot tell how busy other programs keep the processor. See Health in Activity, or set that limit to 100 % in Settings, When to lend.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{device} has {free} MiB of memory free and training needs {wanted} MiB. Resumes when other programs give it back.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot tell what the graphics cards do: their probe does not answer. Resumes when it does; see Health in Activity.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot tell how busy other programs keep {device}. See Health in Activity, or set that limit to 100 % in Settings, When to lend.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cannot tell how much memory of {device} is free. See Health in Activity.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>training was slowed down: another program needs the device. Resumes {until}.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
</TS>
