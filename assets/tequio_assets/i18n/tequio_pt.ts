<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="pt">
<context>
    <name>ActivityPage</name>
    <message>
        <source>View</source>
        <translation>Exibição</translation>
    </message>
    <message>
        <source>Timeline</source>
        <translation>Linha do tempo</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>Log</translation>
    </message>
    <message>
        <source>Health</source>
        <translation>Saúde</translation>
    </message>
    <message>
        <source>What happened here, newest first. It is kept on this computer only.</source>
        <translation>O que aconteceu aqui, do mais recente ao mais antigo. Fica só neste computador.</translation>
    </message>
    <message>
        <source>Activity</source>
        <translation>Atividade</translation>
    </message>
</context>
<context>
    <name>AnyRow</name>
    <message>
        <source>Chosen</source>
        <translation>Escolhido</translation>
    </message>
    <message>
        <source>Choose for me</source>
        <translation>Escolher por mim</translation>
    </message>
    <message>
        <source>A run that fits, with places free</source>
        <translation>Um compatível, com vagas</translation>
    </message>
</context>
<context>
    <name>AppCompetitionsPage</name>
    <message>
        <source>Runs compete on unseen text.</source>
        <translation>Os treinamentos competem em textos inéditos.</translation>
    </message>
    <message>
        <source>Competitions</source>
        <translation>Competições</translation>
    </message>
    <message>
        <source>Join this run</source>
        <translation>Entrar neste treinamento</translation>
    </message>
    <message>
        <source>Stay on this run</source>
        <translation>Ficar neste treinamento</translation>
    </message>
    <message>
        <source>Runs compete on unseen text. Updated {ago}.</source>
        <translation>Os treinamentos competem em textos inéditos. Lista lida {ago}.</translation>
    </message>
    <message>
        <source>{problem}. Tequio will keep trying.</source>
        <translation>{problem}. O Tequio vai continuar tentando.</translation>
    </message>
    <message>
        <source>Couldn't load the list</source>
        <translation>Não foi possível carregar a lista</translation>
    </message>
    <message>
        <source>No competition yet</source>
        <translation>Nenhuma competição ainda</translation>
    </message>
    <message>
        <source>Organisers open one so that runs can be compared. It'll appear here, and you'll be notified.</source>
        <translation>Os organizadores abrem competições para comparar treinamentos. Elas vão aparecer aqui, e você será avisado.</translation>
    </message>
    <message>
        <source>Looking for competitions</source>
        <translation>Procurando competições</translation>
    </message>
    <message>
        <source>Asking the network which competitions there are.</source>
        <translation>Perguntando ao registro quais competições existem.</translation>
    </message>
</context>
<context>
    <name>AppModel</name>
    <message>
        <source>The network does not answer</source>
        <translation>A rede não responde</translation>
    </message>
    <message>
        <source>The network does not answer. It may still accept the request later</source>
        <translation>A rede não responde. Ela ainda pode aceitar o pedido mais tarde</translation>
    </message>
</context>
<context>
    <name>AppealControl</name>
    <message>
        <source>Appeal…</source>
        <translation>Recorrer…</translation>
    </message>
    <message>
        <source>Your appeal is in log entry {entry} and waits for the organisers.</source>
        <translation>Seu recurso está na entrada {entry} do log e aguarda os organizadores.</translation>
    </message>
    <message>
        <source>Restricted by log entry {entry}: {why}.</source>
        <translation>Restrita pela entrada {entry} do log: {why}.</translation>
    </message>
</context>
<context>
    <name>AppealDialog</name>
    <message>
        <source>Appeal</source>
        <translation>Recurso</translation>
    </message>
    <message>
        <source>An organiser reviews what your key is accused of. You can appeal once a day. If nobody answers within 14 days, a quarantine turns into probation.</source>
        <translation>Um organizador analisa do que sua chave é acusada. Você pode recorrer uma vez por dia. Se ninguém responder em 14 dias, uma quarentena vira período probatório.</translation>
    </message>
    <message>
        <source>Send the appeal</source>
        <translation>Enviar o recurso</translation>
    </message>
    <message>
        <source>What happened (optional)</source>
        <translation>O que aconteceu (opcional)</translation>
    </message>
    <message>
        <source>The text is public and permanent: no names, addresses or passwords.</source>
        <translation>O texto é público e permanente: nada de nomes, endereços ou senhas.</translation>
    </message>
    <message>
        <source>The text has {length} bytes, at most {most} are allowed: shorten it.</source>
        <translation>O texto tem {length} bytes, e no máximo {most} são permitidos: encurte-o.</translation>
    </message>
</context>
<context>
    <name>AuditNotice</name>
    <message>
        <source>Another volunteer repeated your work of round {round}, and the results differ slightly more than usual. Your work counts, and you lose nothing. Unusual hardware, overclocking or an old driver can cause this; measuring the device shows whether it works as fast as before.</source>
        <translation>Outro voluntário repetiu seu trabalho da rodada {round}, e os resultados diferem um pouco mais do que o normal. Seu trabalho conta, e você não perde nada. Hardware incomum, overclock ou um driver antigo podem ser a causa; medir o dispositivo mostra se ele continua tão rápido quanto antes.</translation>
    </message>
    <message>
        <source>Pause to measure</source>
        <translation>Pausar para medir</translation>
    </message>
    <message>
        <source>Measure again</source>
        <translation>Medir de novo</translation>
    </message>
</context>
<context>
    <name>BackupDialog</name>
    <message>
        <source>Back up your key</source>
        <translation>Faça backup da sua chave</translation>
    </message>
    <message>
        <source>Anyone with this key has your points. If this disk fails, only a backup helps.</source>
        <translation>Quem tem esta chave tem seus pontos. Se este disco falhar, só um backup resolve.</translation>
    </message>
    <message>
        <source>Kind of backup</source>
        <translation>Tipo de backup</translation>
    </message>
    <message>
        <source>24 words</source>
        <translation>24 palavras</translation>
    </message>
    <message>
        <source>A file</source>
        <translation>Um arquivo</translation>
    </message>
    <message>
        <source>The file is sealed under a passphrase. Keep the two in different places, away from this computer.</source>
        <translation>O arquivo é protegido por uma frase secreta. Guarde os dois em lugares diferentes, longe deste computador.</translation>
    </message>
    <message>
        <source>Save the file…</source>
        <translation>Salvar o arquivo…</translation>
    </message>
    <message>
        <source>Show the words</source>
        <translation>Mostrar as palavras</translation>
    </message>
    <message>
        <source>I have written them down</source>
        <translation>Já anotei</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>Concluído</translation>
    </message>
    <message>
        <source>Save the backup</source>
        <translation>Salvar o backup</translation>
    </message>
</context>
<context>
    <name>BackupSource</name>
    <message>
        <source>Kind of backup</source>
        <translation>Tipo de backup</translation>
    </message>
    <message>
        <source>24 words</source>
        <translation>24 palavras</translation>
    </message>
    <message>
        <source>A file</source>
        <translation>Um arquivo</translation>
    </message>
    <message>
        <source>The 24 words, in their order</source>
        <translation>As 24 palavras, na ordem</translation>
    </message>
    <message>
        <source>Choose the file…</source>
        <translation>Escolher o arquivo…</translation>
    </message>
    <message>
        <source>Choose the backup</source>
        <translation>Escolher o backup</translation>
    </message>
</context>
<context>
    <name>BackupWordsPane</name>
    <message>
        <source>Word {number}</source>
        <translation>Palavra {number}</translation>
    </message>
    <message>
        <source>To check what you wrote, type two of the words.</source>
        <translation>Para ter certeza de que o papel está certo, digite duas das palavras.</translation>
    </message>
    <message>
        <source>Word {number} does not match. Look at the paper again.</source>
        <translation>A palavra {number} é outra. Confira o papel de novo.</translation>
    </message>
    <message>
        <source>Write them on paper in this order: no photo, no cloud. Nobody from Tequio will ever ask for them.</source>
        <translation>Anote-as em papel nesta ordem: nada de foto, nada de nuvem. Ninguém do Tequio jamais vai pedi-las.</translation>
    </message>
</context>
<context>
    <name>BadgesCard</name>
    <message>
        <source>Badges</source>
        <translation>Medalhas</translation>
    </message>
    <message>
        <source>Each badge opens the entry of the public log that proves it.</source>
        <translation>Cada medalha abre a entrada do log público que a comprova.</translation>
    </message>
    <message numerus="yes">
        <source>Current streak: %n day(s) in a row with accepted work.</source>
        <translation>
            <numerusform>Sequência atual: %n dia com trabalho aceito.</numerusform>
            <numerusform>Sequência atual: %n dias seguidos com trabalho aceito.</numerusform>
        </translation>
    </message>
    <message>
        <source>No accepted work today (UTC) yet.</source>
        <translation>Ainda falta o dia de hoje (UTC).</translation>
    </message>
    <message>
        <source>No streak: no work was accepted lately.</source>
        <translation>Sem sequência: nenhum trabalho foi aceito ultimamente.</translation>
    </message>
    <message>
        <source>Next badge: {badge}, {reached} of {needed}</source>
        <translation>Próxima medalha: {badge}, {reached} de {needed}</translation>
    </message>
    <message>
        <source>First round</source>
        <translation>Primeira rodada</translation>
    </message>
    <message>
        <source>A round accepted work of this key for the first time.</source>
        <translation>Uma rodada aceitou trabalho desta chave pela primeira vez.</translation>
    </message>
    <message>
        <source>{n} rounds</source>
        <translation>{n} rodadas</translation>
    </message>
    <message>
        <source>{n} rounds accepted work of this key.</source>
        <translation>{n} rodadas aceitaram trabalho desta chave.</translation>
    </message>
    <message>
        <source>{n} days in a row</source>
        <translation>{n} dias seguidos</translation>
    </message>
    <message>
        <source>Work was accepted on {n} days in a row.</source>
        <translation>Houve trabalho aceito em {n} dias seguidos.</translation>
    </message>
    <message>
        <source>1 EFLOP</source>
        <translation>1 EFLOP</translation>
    </message>
    <message>
        <source>This key did 10^18 calculations, which are 100,000 points.</source>
        <translation>Esta chave fez 10^18 cálculos, o que equivale a 100.000 pontos.</translation>
    </message>
    <message>
        <source>First audit</source>
        <translation>Primeira auditoria</translation>
    </message>
    <message>
        <source>This key repeated another volunteer's work to check it.</source>
        <translation>Esta chave repetiu o trabalho de outro voluntário para verificá-lo.</translation>
    </message>
    <message>
        <source>Measured a model</source>
        <translation>Mediu um modelo</translation>
    </message>
    <message>
        <source>This key measured how good a model is, on text that nobody trains on.</source>
        <translation>Esta chave mediu a qualidade de um modelo, em texto com que ninguém treina.</translation>
    </message>
    <message>
        <source>Judged a competition</source>
        <translation>Julgou uma competição</translation>
    </message>
    <message>
        <source>This key scored a model in a competition.</source>
        <translation>Esta chave avaliou um modelo em uma competição.</translation>
    </message>
</context>
<context>
    <name>BenchmarkRow</name>
    <message>
        <source>Benchmark</source>
        <translation>Teste de velocidade</translation>
    </message>
    <message>
        <source>Measure</source>
        <translation>Medir</translation>
    </message>
    <message>
        <source>Measure again</source>
        <translation>Medir de novo</translation>
    </message>
    <message>
        <source>Measuring</source>
        <translation>Medindo</translation>
    </message>
    <message>
        <source>Trains a small model for a few seconds.</source>
        <translation>Treina um modelo pequeno por alguns segundos.</translation>
    </message>
    <message>
        <source>Not measured: {why}.</source>
        <translation>Não medido: {why}.</translation>
    </message>
    <message>
        <source>Trains a small model for a few seconds and says how fast this device is.</source>
        <translation>Treina um modelo pequeno por alguns segundos e mostra a velocidade deste dispositivo.</translation>
    </message>
    <message>
        <source>Switch the device off first to get a meaningful result.</source>
        <translation>Desligue o dispositivo antes, para ter um resultado confiável.</translation>
    </message>
    <message>
        <source>{tokens} tokens per second</source>
        <translation>{tokens} tokens por segundo</translation>
    </message>
    <message>
        <source>{memory} of memory</source>
        <translation>{memory} de memória</translation>
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
        <translation>A rede não tem uma imagem desta página ({problem}). Copie o link em vez disso.</translation>
    </message>
    <message>
        <source>The picture could not be fetched ({problem}). Check your connection, and try again.</source>
        <translation>Não foi possível obter a imagem ({problem}). Verifique sua conexão e tente de novo.</translation>
    </message>
    <message>
        <source>{file} was not written: {why}. Choose another place, or try again.</source>
        <translation>{file} não foi gravado: {why}. Escolha outro lugar ou tente de novo.</translation>
    </message>
</context>
<context>
    <name>ChatCard</name>
    <message>
        <source>Try the model</source>
        <translation>Experimentar o modelo</translation>
    </message>
    <message>
        <source>What you and the model wrote</source>
        <translation>O que você e o modelo escreveram</translation>
    </message>
    <message>
        <source>The newest model answers here if it was trained on conversations, and otherwise continues what you write. Early in a run that is gibberish; it improves round by round. Its words are generated; they are not anyone's opinion.</source>
        <translation>O modelo mais recente responde aqui se foi treinado com conversas; senão, continua o que você escreve. No começo de um treinamento, sai algo sem sentido; melhora a cada rodada. As palavras dele são geradas; não são a opinião de ninguém.</translation>
    </message>
    <message>
        <source>Preparing the model</source>
        <translation>Preparando o modelo</translation>
    </message>
    <message>
        <source>Your text</source>
        <translation>Seu texto</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>Enviar</translation>
    </message>
    <message>
        <source>New conversation</source>
        <translation>Nova conversa</translation>
    </message>
    <message>
        <source>The model needs what training needs, which is not installed yet.</source>
        <translation>O modelo precisa do mesmo que o treinamento, e isso ainda não está instalado.</translation>
    </message>
    <message>
        <source>{program} has priority now. The model can answer once it is closed.</source>
        <translation>{program} tem prioridade agora. O modelo poderá responder quando for fechado.</translation>
    </message>
    <message>
        <source>The newest model is not on this computer yet. It comes with the next round that you take part in, or you download it now.</source>
        <translation>O modelo mais recente ainda não está neste computador. Ele chega com a próxima rodada de que você participar, ou você pode baixá-lo agora.</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>Baixar</translation>
    </message>
    <message>
        <source>There is not enough memory: the model needs about {needed}, and {free} are free. Close other programs, then try again.</source>
        <translation>Não há memória suficiente: o modelo precisa de cerca de {needed}, e {free} estão livres. Feche outros programas e tente de novo.</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Tentar de novo</translation>
    </message>
    <message>
        <source>The model could not be started, or stopped working.</source>
        <translation>O modelo não pôde ser iniciado ou parou de funcionar.</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Parar</translation>
    </message>
    <message>
        <source>Ask something, or begin a text</source>
        <translation>Pergunte algo ou comece um texto</translation>
    </message>
    <message>
        <source>Ask something</source>
        <translation>Pergunte algo</translation>
    </message>
    <message>
        <source>Begin a text</source>
        <translation>Comece um texto</translation>
    </message>
    <message>
        <source>Downloading the newest model: {done} of {total}</source>
        <translation>Baixando o modelo mais recente: {done} de {total}</translation>
    </message>
    <message>
        <source>Preparing the newest model, checked against the public log…</source>
        <translation>Preparando o modelo mais recente, conferido com o log público…</translation>
    </message>
    <message>
        <source>The model of round {number} runs on this computer's processor.</source>
        <translation>O modelo da rodada {number} roda no processador deste computador.</translation>
    </message>
    <message>
        <source>The model of round {number} runs on this computer's processor, slower while it also trains.</source>
        <translation>O modelo da rodada {number} roda no processador deste computador, mais devagar enquanto ele também treina.</translation>
    </message>
    <message>
        <source>The model is closed. Your next question starts it again; it will not remember this conversation.</source>
        <translation>O modelo está fechado. Sua próxima pergunta o inicia de novo; ele não vai se lembrar desta conversa.</translation>
    </message>
    <message>
        <source>It runs on this computer's processor; nothing is sent anywhere.</source>
        <translation>Ele roda no processador deste computador; nada é enviado a lugar nenhum.</translation>
    </message>
</context>
<context>
    <name>CheckRow</name>
    <message>
        <source>Not available on this system</source>
        <translation>Não disponível neste sistema</translation>
    </message>
    <message>
        <source>OK</source>
        <translation>OK</translation>
    </message>
    <message>
        <source>Checking…</source>
        <translation>Verificando…</translation>
    </message>
    <message>
        <source>Unknown</source>
        <translation>Desconhecido</translation>
    </message>
</context>
<context>
    <name>CheckStep</name>
    <message>
        <source>Can this computer take part?</source>
        <translation>Este computador pode participar?</translation>
    </message>
    <message>
        <source>Takes five seconds at most. Checks this computer and asks the network which runs are open.</source>
        <translation>Leva no máximo cinco segundos. Verifica este computador e pergunta à rede quais treinamentos estão abertos.</translation>
    </message>
    <message>
        <source>Check again</source>
        <translation>Verificar de novo</translation>
    </message>
</context>
<context>
    <name>ChildTransport</name>
    <message>
        <source>The worker was ended from outside ({code}).</source>
        <translation>O serviço em segundo plano foi encerrado por fora ({code}).</translation>
    </message>
    <message>
        <source>The worker has ended ({code}).</source>
        <translation>O serviço em segundo plano foi encerrado ({code}).</translation>
    </message>
</context>
<context>
    <name>CodeConsentDialog</name>
    <message>
        <source>Allow the code of {run}?</source>
        <translation>Permitir o código de {run}?</translation>
    </message>
    <message>
        <source>This run brings code that is not part of Tequio. It was written or chosen by the run's organisers ({keys}).</source>
        <translation>Este treinamento traz código que não faz parte do Tequio. Ele foi escrito ou escolhido pelos organizadores do treinamento ({keys}).</translation>
    </message>
    <message>
        <source>Allow this code</source>
        <translation>Permitir este código</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>Agora não</translation>
    </message>
    <message>
        <source>I trust the author of this code</source>
        <translation>Confio no autor deste código</translation>
    </message>
    <message>
        <source>{name} {version}, {size}, archive {archive}</source>
        <translation>{name} {version}, {size}, arquivo {archive}</translation>
    </message>
    <message>
        <source>It runs in the trainer: it computes on your device, and reads what belongs to the run.</source>
        <translation>Ele é executado no treinador: calcula no seu dispositivo e lê o que pertence ao treinamento.</translation>
    </message>
    <message>
        <source>It makes what your key signs in this run. Bad code can cost points, or your key's standing.</source>
        <translation>Ele produz o que sua chave assina neste treinamento. Um código ruim pode custar pontos ou a reputação da sua chave.</translation>
    </message>
    <message>
        <source>Your consent is for these exact bytes. A new version asks again; you can take the consent back here at any time.</source>
        <translation>Seu consentimento vale apenas para estes bytes exatos. Uma nova versão pergunta de novo; você pode retirar o consentimento aqui a qualquer momento.</translation>
    </message>
    <message>
        <source>The sandbox keeps it from your key, your home folder, the network and other programs.</source>
        <translation>O ambiente isolado o impede de chegar à sua chave, à sua pasta pessoal, à rede e a outros programas.</translation>
    </message>
    <message>
        <source>This computer has no sandbox for it: it could read your files and your key, and use the network.</source>
        <translation>Este computador não tem um ambiente isolado para ele: ele poderia ler seus arquivos e sua chave, e usar a rede.</translation>
    </message>
</context>
<context>
    <name>CommandsCard</name>
    <message>
        <source>In other programs</source>
        <translation>Em outros programas</translation>
    </message>
    <message>
        <source>Export the model</source>
        <translation>Exportar o modelo</translation>
    </message>
    <message>
        <source>In a terminal, the first command exports the newest model as a GGUF file, which works for Llama, Mistral and Qwen models. The second line runs it in llama.cpp, the third in Ollama.</source>
        <translation>Em um terminal, o primeiro comando exporta o modelo mais recente como arquivo GGUF; funciona com modelos Llama, Mistral e Qwen. A segunda linha o executa no llama.cpp, a terceira no Ollama.</translation>
    </message>
</context>
<context>
    <name>CompetitionChoice</name>
    <message>
        <source>Way to the result</source>
        <translation>Caminho até o resultado</translation>
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
        <translation>Primeiro lugar: {names}</translation>
    </message>
</context>
<context>
    <name>CompetitionFigures</name>
    <message>
        <source>Your points</source>
        <translation>Seus pontos</translation>
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
        <translation>Avaliadores</translation>
    </message>
    <message>
        <source>{points} points in the runs of its entrants</source>
        <translation>{points} pontos nos treinamentos dos participantes</translation>
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
            <numerusform>Este computador avalia %n modelo assim que puder ser emprestado.</numerusform>
            <numerusform>Este computador avalia %n modelos assim que puder ser emprestado.</numerusform>
        </translation>
    </message>
    <message>
        <source>You were drawn to judge {name}</source>
        <translation>Você foi sorteado para avaliar {name}</translation>
    </message>
    <message>
        <source>You have judged {name}</source>
        <translation>Você avaliou {name}</translation>
    </message>
    <message>
        <source>All your scores are in the log. See how the entrants are doing.</source>
        <translation>Todas as suas notas estão no log. Veja como estão os participantes.</translation>
    </message>
    <message>
        <source>{sides} compete until {time}. See the rules, and join one of them.</source>
        <translation>{sides} disputam até {time}. Veja as regras e entre em um deles.</translation>
    </message>
    <message>
        <source>{name} has begun</source>
        <translation>{name} começou</translation>
    </message>
    <message>
        <source>{name}: {time} until the deadline</source>
        <translation>{name}: {time} até o fim do prazo</translation>
    </message>
    <message>
        <source>Nothing submitted after it counts. See how the entrants are doing.</source>
        <translation>Depois disso, nada mais conta. Veja como estão os participantes.</translation>
    </message>
    <message>
        <source>{name} is decided</source>
        <translation>{name} está decidida</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>Treinamentos</translation>
    </message>
    <message numerus="yes">
        <source>{name} and %n other(s)</source>
        <translation>
            <numerusform>{name} e mais %n</numerusform>
            <numerusform>{name} e mais %n</numerusform>
        </translation>
    </message>
    <message>
        <source>{names} and {last}</source>
        <translation>{names} e {last}</translation>
    </message>
    <message>
        <source>It ended without a ranking. See the reason and the scores.</source>
        <translation>Terminou sem classificação. Veja o motivo e as notas.</translation>
    </message>
    <message>
        <source>First: {names}, with {score} bits per byte of text (perplexity {perplexity} per byte).</source>
        <translation>Primeiro lugar: {names}, com {score} bits por byte de texto (perplexidade {perplexity} por byte).</translation>
    </message>
</context>
<context>
    <name>CompetitionSummaryCard</name>
    <message>
        <source>Open the ledger's page</source>
        <translation>Abrir a página do registro</translation>
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
        <translation>Convidada</translation>
    </message>
</context>
<context>
    <name>ConnectDialog</name>
    <message>
        <source>Link an account</source>
        <translation>Vincular uma conta</translation>
    </message>
    <message>
        <source>Some runs ask for it. The public log then shows that a person is behind your key, and which keys are theirs, but not who it is.</source>
        <translation>Alguns treinamentos pedem isso. O log público passa a mostrar que há uma pessoa por trás da sua chave, e quais chaves são dela, mas não quem ela é.</translation>
    </message>
    <message>
        <source>Get a code</source>
        <translation>Obter um código</translation>
    </message>
    <message>
        <source>Address of the connector</source>
        <translation>Endereço do serviço de vinculação</translation>
    </message>
    <message>
        <source>Provider, if it has several</source>
        <translation>Provedor, se houver vários</translation>
    </message>
    <message>
        <source>The organisers of the network name connectors that they trust.</source>
        <translation>Os organizadores da rede indicam os serviços de vinculação em que confiam.</translation>
    </message>
    <message>
        <source>Code</source>
        <translation>Código</translation>
    </message>
    <message>
        <source>Open the page</source>
        <translation>Abrir a página</translation>
    </message>
    <message>
        <source>Never share this code, and never enter one that somebody else gave you.</source>
        <translation>Nunca compartilhe este código e nunca digite um que outra pessoa deu a você.</translation>
    </message>
    <message>
        <source>Enter this code</source>
        <translation>Digite este código</translation>
    </message>
    <message>
        <source>At {url}, signed in with your account there.</source>
        <translation>Em {url}, conectado à sua conta lá.</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Fechar</translation>
    </message>
    <message>
        <source>The code was not used in time. Open this dialog again.</source>
        <translation>O código não foi usado a tempo. Abra esta janela de novo.</translation>
    </message>
</context>
<context>
    <name>ConsentCard</name>
    <message>
        <source>{traffic} GB of traffic a month</source>
        <translation>{traffic} GB de tráfego por mês</translation>
    </message>
    <message>
        <source>I lend this computer to Tequio as chosen here: it may use the graphics card, the processor, up to {disk} GB of disk, {traffic}, and the power that takes. I am allowed to decide this for this computer.</source>
        <translation>Eu empresto este computador ao Tequio conforme escolhido aqui: ele pode usar a placa de vídeo, o processador, até {disk} GB de disco, {traffic} e a energia necessária. Tenho permissão para decidir isso por este computador.</translation>
    </message>
    <message>
        <source>traffic without a limit</source>
        <translation>tráfego sem limite</translation>
    </message>
    <message>
        <source>I agree</source>
        <translation>Concordo</translation>
    </message>
    <message>
        <source>You can pause, change or stop at any time.</source>
        <translation>Você pode pausar, mudar ou parar a qualquer momento.</translation>
    </message>
</context>
<context>
    <name>Conversation</name>
    <message>
        <source>The worker sent an invalid message ({problem}).</source>
        <translation>O serviço em segundo plano enviou uma mensagem inválida ({problem}).</translation>
    </message>
    <message>
        <source>The worker is still being started.</source>
        <translation>O serviço em segundo plano ainda está iniciando.</translation>
    </message>
    <message>
        <source>The worker has not answered in time.</source>
        <translation>O serviço em segundo plano não respondeu a tempo.</translation>
    </message>
    <message>
        <source>The worker has not answered in time. It may still carry out the request.</source>
        <translation>O serviço em segundo plano não respondeu a tempo. Ele ainda pode executar o pedido.</translation>
    </message>
    <message>
        <source>The worker does not answer any more.</source>
        <translation>O serviço em segundo plano não responde mais.</translation>
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
        <translation>Horas por dia</translation>
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
        <translation>Preço por kWh</translation>
    </message>
    <message>
        <source>not entered</source>
        <translation>não informado</translation>
    </message>
    <message>
        <source>What it costs in power</source>
        <translation>Quanto custa em energia</translation>
    </message>
    <message>
        <source>while it trains</source>
        <translation>durante o treinamento</translation>
    </message>
    <message>
        <source>{energy} kWh</source>
        <translation>{energy} kWh</translation>
    </message>
    <message>
        <source>per month</source>
        <translation>por mês</translation>
    </message>
    <message>
        <source>Checking this computer. Until then, the range covers most graphics cards.</source>
        <translation>Examinando este computador. A faixa é a da maioria das placas de vídeo.</translation>
    </message>
    <message>
        <source>{device}: no graphics card was found. The range covers most processors.</source>
        <translation>{device}: nenhuma placa de vídeo encontrada. A faixa é a dos processadores.</translation>
    </message>
    <message>
        <source>{device}: from 60% of its power limit to all of it.</source>
        <translation>{device}: de 60% do limite de potência até o limite inteiro.</translation>
    </message>
    <message>
        <source>{device} does not report its limit. The range covers most cards.</source>
        <translation>{device} não informa seu limite. A faixa é a da maioria das placas.</translation>
    </message>
    <message>
        <source>For this device only. If your PC would otherwise be asleep, add 40 to 90 W.</source>
        <translation>Só para este dispositivo. Se o PC estaria suspenso, some de 40 a 90 W.</translation>
    </message>
    <message>
        <source>This is a rough household price: enter yours.</source>
        <translation>Este é um preço residencial aproximado: informe o seu.</translation>
    </message>
</context>
<context>
    <name>DaysCard</name>
    <message>
        <source>Points per day</source>
        <translation>Pontos por dia</translation>
    </message>
    <message>
        <source>30 days</source>
        <translation>30 dias</translation>
    </message>
    <message>
        <source>A round trains for about {time} and is checked after that.</source>
        <translation>Uma rodada treina por cerca de {time} e depois é verificada.</translation>
    </message>
    <message>
        <source>{total} points in {days} days; most on {day}: {peak}</source>
        <translation>{total} pontos em {days} dias; o máximo em {day}: {peak}</translation>
    </message>
    <message>
        <source>Your verified points for each day will appear here after your first round.</source>
        <translation>Os pontos verificados de cada dia aparecem aqui a partir da sua primeira rodada.</translation>
    </message>
</context>
<context>
    <name>DetailsButton</name>
    <message>
        <source>Details</source>
        <translation>Detalhes</translation>
    </message>
</context>
<context>
    <name>DetailsDialog</name>
    <message>
        <source>Details</source>
        <translation>Detalhes</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Copiar</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Fechar</translation>
    </message>
</context>
<context>
    <name>DeviceCard</name>
    <message>
        <source>Lend {device}</source>
        <translation>Emprestar {device}</translation>
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
        <translation>Treinador</translation>
    </message>
    <message>
        <source>Witness</source>
        <translation>Testemunha</translation>
    </message>
    <message>
        <source>Trainers train the model; witnesses check their work. Automatic does both. Default: automatic.</source>
        <translation>Treinadores treinam o modelo; testemunhas verificam o trabalho deles. Automático faz os dois. Padrão: automático.</translation>
    </message>
    <message>
        <source>While I use the computer</source>
        <translation>Enquanto eu uso o computador</translation>
    </message>
    <message>
        <source>Lends this card also while you use the computer or play on another one. Stops when another program uses it. Default: off.</source>
        <translation>Empresta esta placa também enquanto você usa o computador ou joga em outra. Para quando outro programa a usa. Padrão: desligado.</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>Treinamento</translation>
    </message>
    <message>
        <source>The run that this device trains. Two devices of one computer never train the same run. Default: automatic.</source>
        <translation>O treinamento de que este dispositivo participa. Dois dispositivos do mesmo computador nunca ficam no mesmo. Padrão: automático.</translation>
    </message>
    <message>
        <source>Processor</source>
        <translation>Processador</translation>
    </message>
    <message>
        <source>Not known yet</source>
        <translation>Ainda desconhecido</translation>
    </message>
    <message>
        <source>Not readable now</source>
        <translation>Não pode ser lido agora</translation>
    </message>
    <message>
        <source>No longer open</source>
        <translation>Não está mais aberto</translation>
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
        <translation>{memory} de memória</translation>
    </message>
    <message>
        <source>driver {version}</source>
        <translation>driver {version}</translation>
    </message>
    <message>
        <source>{run}: round {round} of {rounds}</source>
        <translation>{run}: rodada {round} de {rounds}</translation>
    </message>
    <message>
        <source>Computing</source>
        <translation>Calculando</translation>
    </message>
    <message>
        <source>Computing, {share} of the time</source>
        <translation>Calculando, {share} do tempo</translation>
    </message>
    <message>
        <source>Between rounds</source>
        <translation>Entre rodadas</translation>
    </message>
    <message>
        <source>Starting</source>
        <translation>Iniciando</translation>
    </message>
    <message>
        <source>Stopping</source>
        <translation>Parando</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>Falhou</translation>
    </message>
    <message>
        <source>Ready</source>
        <translation>Pronto</translation>
    </message>
    <message>
        <source>Not lent</source>
        <translation>Não emprestado</translation>
    </message>
    <message>
        <source>Stops lending now</source>
        <translation>Para de emprestar agora</translation>
    </message>
</context>
<context>
    <name>DeviceLimits</name>
    <message>
        <source>Share of the time</source>
        <translation>Parte do tempo</translation>
    </message>
    <message>
        <source>How much of the time this device works.</source>
        <translation>Quanto do tempo este dispositivo trabalha.</translation>
    </message>
    <message>
        <source>Usual</source>
        <translation>Normal</translation>
    </message>
    <message>
        <source>{memory}, automatic</source>
        <translation>{memory}, automático</translation>
    </message>
    <message>
        <source>No goal</source>
        <translation>Sem meta</translation>
    </message>
    <message>
        <source>{threads}, automatic</source>
        <translation>{threads}, automático</translation>
    </message>
    <message>
        <source>Left to the desktop: 2 GB at least, unless you choose more here.</source>
        <translation>Fica para a área de trabalho: pelo menos 2 GB, a menos que você escolha mais aqui.</translation>
    </message>
    <message>
        <source>{free} This card has {total}.</source>
        <translation>{free} Esta placa tem {total}.</translation>
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
        <translation>Meta de potência</translation>
    </message>
    <message>
        <source>Kept by resting between steps; the card's own limit is {most}.</source>
        <translation>Mantida com descansos entre os passos; o limite da placa é {most}.</translation>
    </message>
    <message>
        <source>Slows down to stay below this; stops at 5 °C above it.</source>
        <translation>Desacelera para ficar abaixo disso; para 5 °C acima.</translation>
    </message>
    <message>
        <source>Temperature goal</source>
        <translation>Meta de temperatura</translation>
    </message>
    <message>
        <source>Of {cores} cores; one stays free unless you choose otherwise.</source>
        <translation>De {cores} núcleos; um fica livre, a menos que você escolha outra coisa.</translation>
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
        <translation>Como</translation>
    </message>
    <message>
        <source>Join with a link</source>
        <translation>Entrar com um link</translation>
    </message>
    <message>
        <source>Found a team</source>
        <translation>Criar uma equipe</translation>
    </message>
    <message>
        <source>Join link or code of a team</source>
        <translation>Link de entrada ou código de uma equipe</translation>
    </message>
    <message>
        <source>Name of the new team</source>
        <translation>Nome da nova equipe</translation>
    </message>
    <message>
        <source>2 to 32 letters of one script and digits. The name is public and stays. You can found one team every 30 days.</source>
        <translation>2 a 32 letras de um mesmo alfabeto e algarismos. O nome é público e permanente. Você pode criar uma equipe a cada 30 dias.</translation>
    </message>
    <message>
        <source>Ask the owner of the team for its link or code.</source>
        <translation>Peça o link ou o código a quem é responsável pela equipe.</translation>
    </message>
</context>
<context>
    <name>ErrorReportDialog</name>
    <message>
        <source>Tequio – a fault</source>
        <translation>Tequio – uma falha</translation>
    </message>
    <message>
        <source>Report</source>
        <translation>Relatório</translation>
    </message>
    <message>
        <source>Copy report</source>
        <translation>Copiar relatório</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>Continuar</translation>
    </message>
    <message numerus="yes">
        <source>%n more fault(s) since</source>
        <translation>
            <numerusform>Mais %n falha desde então</numerusform>
            <numerusform>Mais %n falhas desde então</numerusform>
        </translation>
    </message>
    <message>
        <source>Something went wrong in Tequio's window</source>
        <translation>Algo deu errado na janela do Tequio</translation>
    </message>
    <message>
        <source>Lending is not affected: it runs in a program of its own. Nothing was sent to anybody. If you want to report this, copy the text below; keys and names of your folders were taken out of it.</source>
        <translation>O empréstimo não é afetado: ele roda em um programa próprio. Nada foi enviado a ninguém. Se quiser relatar isto, copie o texto abaixo; as chaves e os nomes das suas pastas foram removidos dele.</translation>
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
        <translation>Bom: {words}</translation>
    </message>
    <message>
        <source>Attention: {words}</source>
        <translation>Atenção: {words}</translation>
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
        <translation>Adicionar um programa</translation>
    </message>
    <message>
        <source>No programs yet.</source>
        <translation>Nenhum programa ainda.</translation>
    </message>
    <message>
        <source>{program} was removed from the list.</source>
        <translation>{program} foi removido da lista.</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Remover</translation>
    </message>
    <message>
        <source>Remove {program}</source>
        <translation>Remover {program}</translation>
    </message>
</context>
<context>
    <name>FirstRun</name>
    <message>
        <source>Back</source>
        <translation>Voltar</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>Agora não</translation>
    </message>
    <message>
        <source>Step {number} of {steps}</source>
        <translation>Etapa {number} de {steps}</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>Avançar</translation>
    </message>
    <message>
        <source>You are invited to “{network}”. Step 3 makes your key; then you can join.</source>
        <translation>Você foi convidado para “{network}”. A etapa 3 cria sua chave; depois você pode entrar.</translation>
    </message>
    <message>
        <source>You are invited to “{network}”.</source>
        <translation>Você foi convidado para “{network}”.</translation>
    </message>
    <message>
        <source>Join</source>
        <translation>Entrar</translation>
    </message>
</context>
<context>
    <name>FolderLine</name>
    <message>
        <source>Folder</source>
        <translation>Pasta</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Abrir</translation>
    </message>
    <message>
        <source>Open the folder</source>
        <translation>Abrir a pasta</translation>
    </message>
</context>
<context>
    <name>HardwarePage</name>
    <message>
        <source>Choose what Tequio may use. Each device that is lent trains a run of its own. Changes apply immediately.</source>
        <translation>Escolha o que o Tequio pode usar. Cada dispositivo emprestado tem um treinamento próprio. As mudanças valem na hora.</translation>
    </message>
    <message>
        <source>Hardware</source>
        <translation>Hardware</translation>
    </message>
    <message>
        <source>The worker is being started; its devices will appear here.</source>
        <translation>O serviço em segundo plano está iniciando; depois os dispositivos aparecem aqui.</translation>
    </message>
    <message>
        <source>The hardware is being checked; its devices will appear here.</source>
        <translation>O hardware está sendo verificado; depois os dispositivos aparecem aqui.</translation>
    </message>
    <message>
        <source>The hardware probe is not responding, so the state of the graphics cards is unknown. Nothing is lent until it responds; Tequio restarts it automatically.</source>
        <translation>A sonda de hardware não responde, então o estado das placas de vídeo é desconhecido. Nada é emprestado até ela responder; o Tequio a reinicia automaticamente.</translation>
    </message>
    <message>
        <source>No graphics card was found that can train. The CPU is lent instead. It's slower, but still earns points.</source>
        <translation>Nenhuma placa de vídeo capaz de treinar foi encontrada. O processador é emprestado no lugar. É mais lento, mas também rende pontos.</translation>
    </message>
    <message>
        <source>No graphics card was found that can train. The CPU can be lent instead.</source>
        <translation>Nenhuma placa de vídeo capaz de treinar foi encontrada. O processador pode ser emprestado no lugar.</translation>
    </message>
    <message>
        <source>Lend the processor</source>
        <translation>Emprestar o processador</translation>
    </message>
    <message>
        <source>{device} is no longer lent.</source>
        <translation>{device} não é mais emprestado.</translation>
    </message>
</context>
<context>
    <name>HealthView</name>
    <message>
        <source>Your session</source>
        <translation>Sua sessão</translation>
    </message>
    <message>
        <source>Nothing is known about your session yet.</source>
        <translation>Nada se sabe da sua sessão ainda.</translation>
    </message>
    <message>
        <source>The hardware is being checked…</source>
        <translation>Verificando o hardware…</translation>
    </message>
    <message>
        <source>The hardware probe is not responding. The worker restarts it automatically.</source>
        <translation>A sonda de hardware não responde. O serviço em segundo plano a reinicia automaticamente.</translation>
    </message>
    <message>
        <source>This computer</source>
        <translation>Este computador</translation>
    </message>
    <message numerus="yes">
        <source>All %n check(s) are working.</source>
        <translation>
            <numerusform>%n verificação funciona.</numerusform>
            <numerusform>Todas as %n verificações funcionam.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n check(s) aren't working.</source>
        <translation>
            <numerusform>%n verificação não funciona.</numerusform>
            <numerusform>%n verificações não funcionam.</numerusform>
        </translation>
    </message>
    <message>
        <source>If Tequio isn't sure, it stays paused.</source>
        <translation>Na dúvida, o Tequio fica pausado.</translation>
    </message>
    <message>
        <source>Some checks have not responded yet.</source>
        <translation>Algumas verificações ainda não responderam.</translation>
    </message>
</context>
<context>
    <name>HelpDialog</name>
    <message>
        <source>Keyboard and help</source>
        <translation>Teclado e ajuda</translation>
    </message>
    <message>
        <source>Read this page again</source>
        <translation>Atualizar esta página</translation>
    </message>
    <message>
        <source>Go to the next control, and use it</source>
        <translation>Ir para o próximo controle e usá-lo</translation>
    </message>
    <message>
        <source>Search the settings</source>
        <translation>Pesquisar nas configurações</translation>
    </message>
    <message>
        <source>Close the window; Tequio goes on in the tray</source>
        <translation>Fechar a janela; o Tequio continua na bandeja</translation>
    </message>
    <message>
        <source>Quit, and stop lending</source>
        <translation>Sair e parar de emprestar</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Fechar</translation>
    </message>
    <message>
        <source>Every command explains itself: tequio --help. Version {version}.</source>
        <translation>Cada comando explica a si mesmo: tequio --help. Versão {version}.</translation>
    </message>
</context>
<context>
    <name>HomeHeader</name>
    <message>
        <source>Snooze</source>
        <translation>Pausa temporária</translation>
    </message>
    <message>
        <source>Finish round, then stop</source>
        <translation>Terminar a rodada e parar</translation>
    </message>
    <message>
        <source>Ends the round under way, so that none of its work is lost.</source>
        <translation>Termina a rodada em andamento, para que nada do trabalho se perca.</translation>
    </message>
    <message>
        <source>Go on after this round</source>
        <translation>Continuar após esta rodada</translation>
    </message>
    <message>
        <source>Start now anyway</source>
        <translation>Começar mesmo assim</translation>
    </message>
    <message>
        <source>Starts although a rule says to wait.</source>
        <translation>Começa embora uma regra mande esperar.</translation>
    </message>
    <message>
        <source>Change this rule</source>
        <translation>Mudar esta regra</translation>
    </message>
    <message>
        <source>Nothing is lent until this is solved.</source>
        <translation>Nada é emprestado até isto ser resolvido.</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pausar</translation>
    </message>
    <message>
        <source>Stops at once and gives the device back.</source>
        <translation>Para na hora e devolve o dispositivo.</translation>
    </message>
    <message>
        <source>Set up</source>
        <translation>Configurar</translation>
    </message>
    <message>
        <source>Resume now</source>
        <translation>Continuar agora</translation>
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
        <translation>Entrar</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>Agora não</translation>
    </message>
    <message>
        <source>An invitation</source>
        <translation>Um convite</translation>
    </message>
    <message>
        <source>Checking this invitation with {ledger}…</source>
        <translation>Verificando este convite com {ledger}…</translation>
    </message>
    <message>
        <source>Join the run “{run}”?</source>
        <translation>Entrar no treinamento “{run}”?</translation>
    </message>
    <message>
        <source>Join the network “{network}”?</source>
        <translation>Entrar na rede “{network}”?</translation>
    </message>
    <message>
        <source>The organisers of the network “{network}” invite you (entry {index} of the log at {ledger}).</source>
        <translation>Os organizadores da rede “{network}” convidam você (entrada {index} do log em {ledger}).</translation>
    </message>
    <message>
        <source>Make my key</source>
        <translation>Criar minha chave</translation>
    </message>
    <message>
        <source>Your key comes first: it is made in the first steps. Then this question comes again.</source>
        <translation>Sua chave vem primeiro: ela é criada nas primeiras etapas. Depois esta pergunta aparece de novo.</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Fechar</translation>
    </message>
    <message>
        <source>This invitation cannot be used</source>
        <translation>Este convite não pode ser usado</translation>
    </message>
    <message>
        <source>Nothing was changed.</source>
        <translation>Nada foi mudado.</translation>
    </message>
    <message>
        <source>Joining. This may take a minute.</source>
        <translation>Entrando. Pode levar um minuto.</translation>
    </message>
    <message>
        <source>Your key is in this network already and stays as it is; the invitation is not used up.</source>
        <translation>Sua chave já está nesta rede e fica como está; o convite não é gasto.</translation>
    </message>
    <message numerus="yes">
        <source>%n use(s) left, valid until {until}.</source>
        <translation>
            <numerusform>Resta %n uso, válido até {until}.</numerusform>
            <numerusform>Restam %n usos, válido até {until}.</numerusform>
        </translation>
    </message>
    <message>
        <source>Everybody can read in the log that this invitation let your key in; the organisers can take it back.</source>
        <translation>Qualquer pessoa pode ler no log que este convite deixou sua chave entrar; os organizadores podem cancelá-lo.</translation>
    </message>
    <message>
        <source>You will lend to this ledger instead of {old}. The settings change it back.</source>
        <translation>Você vai emprestar a este registro em vez de {old}. Dá para voltar atrás nas configurações.</translation>
    </message>
    <message>
        <source>What you have chosen about when and how much to lend holds as before.</source>
        <translation>O que você escolheu sobre quando e quanto emprestar continua valendo.</translation>
    </message>
    <message>
        <source>Nothing is lent before you have gone through the first steps.</source>
        <translation>Nada é emprestado antes de você passar pelas primeiras etapas.</translation>
    </message>
    <message>
        <source>You choose the run, among all of this network.</source>
        <translation>Você escolhe o treinamento, entre todos desta rede.</translation>
    </message>
    <message numerus="yes">
        <source>%n computers are in it now</source>
        <translation>
            <numerusform>%n computador está nela agora</numerusform>
            <numerusform>%n computadores estão nela agora</numerusform>
        </translation>
    </message>
    <message>
        <source>{tokens} tokens were trained so far</source>
        <translation>{tokens} tokens foram treinados até agora</translation>
    </message>
    <message>
        <source>{members}; {tokens}</source>
        <translation>{members}; {tokens}</translation>
    </message>
    <message>
        <source>The server at {ledger} does not answer as a ledger ({detail}). Try the link again later, or ask its sender.</source>
        <translation>O servidor em {ledger} não responde como um registro ({detail}). Tente o link mais tarde ou pergunte a quem o enviou.</translation>
    </message>
    <message>
        <source>{ledger} belongs to another network than this link. Ask its sender for a new link.</source>
        <translation>{ledger} pertence a uma rede diferente da deste link. Peça um novo link a quem o enviou.</translation>
    </message>
    <message>
        <source>The network does not know this invitation yet. A second organiser may still have to sign it. Try the link again later, or ask its sender.</source>
        <translation>A rede ainda não conhece este convite. Talvez um segundo organizador ainda precise assiná-lo. Tente o link mais tarde ou pergunte a quem o enviou.</translation>
    </message>
    <message>
        <source>The organisers have ended this invitation. Ask for another.</source>
        <translation>Os organizadores encerraram este convite. Peça outro.</translation>
    </message>
    <message>
        <source>This invitation has expired. Ask for another.</source>
        <translation>Este convite venceu. Peça outro.</translation>
    </message>
    <message>
        <source>This invitation has been used up. Ask for another.</source>
        <translation>Este convite já foi usado. Peça outro.</translation>
    </message>
    <message>
        <source>The run “{detail}” has ended.</source>
        <translation>O treinamento “{detail}” terminou.</translation>
    </message>
    <message>
        <source>This app's folder belongs to another network, with its key and points. Join on the command line, in a folder of its own: tequio join LINK --dir FOLDER</source>
        <translation>A pasta deste aplicativo pertence a outra rede, com a chave e os pontos dela. Entre pela linha de comando, em uma pasta própria: tequio join LINK --dir FOLDER</translation>
    </message>
    <message>
        <source>This invitation link is incomplete ({detail}). Open it again from where you got it.</source>
        <translation>Este link de convite está incompleto ({detail}). Abra-o de novo de onde você o recebeu.</translation>
    </message>
    <message>
        <source>The worker here was started elsewhere. End it, then open the link again.</source>
        <translation>O serviço em segundo plano foi iniciado em outro lugar. Encerre-o e abra o link de novo.</translation>
    </message>
</context>
<context>
    <name>JoinNetworkDialog</name>
    <message>
        <source>This computer is in the network at {ledger} now.</source>
        <translation>Este computador agora está na rede em {ledger}.</translation>
    </message>
    <message>
        <source>A link names the network at this address. Nothing is lent by joining: you decide later when this computer works for it.</source>
        <translation>Um link indica a rede neste endereço. Entrar não empresta nada: depois você decide quando este computador trabalha para ela.</translation>
    </message>
    <message>
        <source>Choose the network that this computer should work for.</source>
        <translation>Escolha a rede para a qual este computador deve trabalhar.</translation>
    </message>
    <message>
        <source>Join this network?</source>
        <translation>Entrar nesta rede?</translation>
    </message>
    <message>
        <source>Join a network</source>
        <translation>Entrar em uma rede</translation>
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
        <translation>Desde que você entrou</translation>
    </message>
    <message>
        <source>None of your work has been accepted yet. Once it is, you can see here how the model has changed since.</source>
        <translation>Nada do seu trabalho foi aceito ainda. Quando for, você verá aqui como o modelo mudou desde então.</translation>
    </message>
    <message>
        <source>Your work has counted since round {round}. The model has not been measured since.</source>
        <translation>Seu trabalho conta desde a rodada {round}. Desde então, o modelo não foi medido.</translation>
    </message>
    <message>
        <source>Your work has counted since round {round}. The next measure will show how the model changes.</source>
        <translation>Seu trabalho conta desde a rodada {round}. A próxima medição mostrará como o modelo muda.</translation>
    </message>
    <message>
        <source>Since your work first counted, in round {round}, the model has improved from {then} to {now} bits per byte on unseen text: {percent} fewer. Its perplexity went from {before} to {after}.</source>
        <translation>Desde que seu trabalho contou pela primeira vez, na rodada {round}, o modelo melhorou de {then} para {now} bits por byte em textos nunca vistos: {percent} a menos. Sua perplexidade passou de {before} para {after}.</translation>
    </message>
    <message>
        <source>Since your work first counted, in round {round}, the model has gone from {then} to {now} bits per byte on unseen text: {percent} more. Its perplexity went from {before} to {after}. Lower is better; both go up and down from round to round.</source>
        <translation>Desde que seu trabalho contou pela primeira vez, na rodada {round}, o modelo passou de {then} para {now} bits por byte em textos nunca vistos: {percent} a mais. Sua perplexidade passou de {before} para {after}. Menos é melhor; os dois valores sobem e descem de uma rodada para outra.</translation>
    </message>
</context>
<context>
    <name>JudgingCard</name>
    <message>
        <source>Judging</source>
        <translation>Júri</translation>
    </message>
    <message>
        <source>Offer to judge</source>
        <translation>Oferecer-se para avaliar</translation>
    </message>
    <message>
        <source>Resume judging</source>
        <translation>Voltar a avaliar</translation>
    </message>
    <message>
        <source>Stop judging</source>
        <translation>Parar de avaliar</translation>
    </message>
</context>
<context>
    <name>KeyAccount</name>
    <message>
        <source>The worker does not answer</source>
        <translation>O serviço em segundo plano não responde</translation>
    </message>
</context>
<context>
    <name>KeyCard</name>
    <message>
        <source>24 words…</source>
        <translation>24 palavras…</translation>
    </message>
    <message>
        <source>Save a file…</source>
        <translation>Salvar um arquivo…</translation>
    </message>
    <message>
        <source>Change how it's stored…</source>
        <translation>Mudar onde fica guardada…</translation>
    </message>
    <message>
        <source>Restore another…</source>
        <translation>Restaurar outra…</translation>
    </message>
    <message>
        <source>A sealed key</source>
        <translation>Uma chave protegida</translation>
    </message>
    <message>
        <source>No key</source>
        <translation>Nenhuma chave</translation>
    </message>
    <message>
        <source>You don't have a key yet.</source>
        <translation>Você ainda não tem uma chave.</translation>
    </message>
    <message>
        <source>Kept in this system's keyring: the file alone is worth nothing.</source>
        <translation>Guardada no chaveiro deste sistema: o arquivo sozinho não vale nada.</translation>
    </message>
    <message>
        <source>Kept under your passphrase, which is asked at each start.</source>
        <translation>Guardada sob sua frase secreta, pedida a cada início.</translation>
    </message>
    <message>
        <source>Stored unencrypted, in a file only your user account can read.</source>
        <translation>Guardada sem criptografia, em um arquivo que só a sua conta de usuário pode ler.</translation>
    </message>
    <message>
        <source>No backup yet</source>
        <translation>Sem backup ainda</translation>
    </message>
    <message>
        <source>Back it up now, or later: until then Home reminds you. If this disk fails without a backup, your points cannot be claimed.</source>
        <translation>Faça o backup agora ou depois: até lá, o Início lembra você. Se este disco falhar sem um backup, seus pontos se perdem.</translation>
    </message>
    <message>
        <source>Backed up as words, {day}</source>
        <translation>Backup em palavras, {day}</translation>
    </message>
    <message>
        <source>Backed up as a file, {day}</source>
        <translation>Backup em arquivo, {day}</translation>
    </message>
    <message>
        <source>You can make as many backups as you like; all remain valid.</source>
        <translation>Você pode fazer quantos backups quiser; todos continuam valendo.</translation>
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
        <translation>Sua chave</translation>
    </message>
    <message>
        <source>Your key is your account: no e-mail and no sign-up. It signs your work, and the points belong to it.</source>
        <translation>Sua chave é sua conta: sem e-mail e sem cadastro. Ela assina seu trabalho, e os pontos pertencem a ela.</translation>
    </message>
</context>
<context>
    <name>LeaveDialog</name>
    <message>
        <source>Nothing is lent. What you chose is kept, and “Set up” on Home returns to this step.</source>
        <translation>Nada é emprestado. O que você escolheu fica salvo, e “Configurar” no Início volta exatamente a esta etapa.</translation>
    </message>
    <message>
        <source>What you chose here is dropped, and lending stays as it was.</source>
        <translation>O que você escolheu aqui é descartado, e o empréstimo continua como estava.</translation>
    </message>
    <message>
        <source>Leave this for now?</source>
        <translation>Parar por agora?</translation>
    </message>
    <message>
        <source>Leave for now</source>
        <translation>Continuar depois</translation>
    </message>
    <message>
        <source>Go on here</source>
        <translation>Continuar aqui</translation>
    </message>
</context>
<context>
    <name>LedgerCheck</name>
    <message>
        <source>{address} is not a valid ledger address: it must begin with http:// or https:// and name a computer, for example https://ledger.example.</source>
        <translation>{address} não é um endereço de registro válido: ele deve começar com http:// ou https:// e indicar um computador, por exemplo https://ledger.example.</translation>
    </message>
    <message>
        <source>Nothing answers at {address}. Check the address and your connection.</source>
        <translation>Nada responde em {address}. Verifique o endereço e a sua conexão.</translation>
    </message>
    <message>
        <source>{address} is not a ledger. Check the address with its sender.</source>
        <translation>{address} não é um registro. Confira o endereço com quem o enviou.</translation>
    </message>
</context>
<context>
    <name>LedgerField</name>
    <message>
        <source>Ledger's address</source>
        <translation>Endereço do registro</translation>
    </message>
    <message>
        <source>Join a network…</source>
        <translation>Entrar em uma rede…</translation>
    </message>
    <message>
        <source>Connecting…</source>
        <translation>Conectando…</translation>
    </message>
    <message>
        <source>No network was chosen yet.</source>
        <translation>Nenhuma rede foi escolhida ainda.</translation>
    </message>
    <message>
        <source>Not answering now. Tequio keeps trying.</source>
        <translation>Não responde agora. O Tequio continua tentando.</translation>
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
        <translation>Atualizar</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Tentar de novo</translation>
    </message>
    <message>
        <source>This list is from {time}. {problem}; Tequio keeps trying.</source>
        <translation>Esta lista é de {time}. {problem}; o Tequio continua tentando.</translation>
    </message>
</context>
<context>
    <name>ListenField</name>
    <message>
        <source>Listen address</source>
        <translation>Endereço de escuta</translation>
    </message>
    <message>
        <source>{address} is not a valid listen address: write /ip4/0.0.0.0/tcp/4001, or leave it empty.</source>
        <translation>{address} não é um endereço de escuta válido: escreva /ip4/0.0.0.0/tcp/4001 ou deixe em branco.</translation>
    </message>
</context>
<context>
    <name>LoginSwitch</name>
    <message>
        <source>Start at login</source>
        <translation>Iniciar ao entrar na sessão</translation>
    </message>
    <message>
        <source>The system refused the change: {why}. Add Tequio to its startup programs by hand.</source>
        <translation>O sistema recusou a mudança: {why}. Adicione o Tequio manualmente aos programas de inicialização.</translation>
    </message>
    <message>
        <source>The system accepted the change but does not report it. Check its own list of startup programs.</source>
        <translation>O sistema aceitou a mudança, mas não a mostra. Confira a própria lista de programas de inicialização dele.</translation>
    </message>
</context>
<context>
    <name>LostKeyControl</name>
    <message>
        <source>Use a recovery key…</source>
        <translation>Usar uma chave de recuperação…</translation>
    </message>
</context>
<context>
    <name>LostKeyDialog</name>
    <message>
        <source>A lost or stolen computer</source>
        <translation>Um computador perdido ou roubado</translation>
    </message>
    <message>
        <source>The recovery key stops that computer's key permanently: a thief can no longer use it. If the key had no recovery key, a backup of the key itself does the same.</source>
        <translation>A chave de recuperação bloqueia para sempre a chave daquele computador: um ladrão não pode mais usá-la. Se a chave não tinha uma, um backup da própria chave faz o mesmo.</translation>
    </message>
    <message>
        <source>What to do</source>
        <translation>O que fazer</translation>
    </message>
    <message>
        <source>Only stop its key</source>
        <translation>Só bloquear a chave dele</translation>
    </message>
    <message>
        <source>Move its points here</source>
        <translation>Trazer os pontos para cá</translation>
    </message>
    <message>
        <source>Key of the lost computer</source>
        <translation>Chave do computador perdido</translation>
    </message>
    <message>
        <source>Its 43 characters, or the address of its page</source>
        <translation>Seus 43 caracteres, ou o endereço da página dela</translation>
    </message>
    <message>
        <source>In the full ranking, its name opens that page.</source>
        <translation>Na classificação completa, o nome dela abre essa página.</translation>
    </message>
    <message>
        <source>Passphrase of the file</source>
        <translation>Frase secreta do arquivo</translation>
    </message>
    <message>
        <source>I know that this key can never be used again</source>
        <translation>Sei que esta chave nunca mais poderá ser usada</translation>
    </message>
    <message>
        <source>Its recovery key</source>
        <translation>A chave de recuperação dele</translation>
    </message>
    <message>
        <source>Move the points</source>
        <translation>Trazer os pontos</translation>
    </message>
    <message>
        <source>Stop the key</source>
        <translation>Bloquear a chave</translation>
    </message>
    <message>
        <source>A new key on this computer gets the points, standing, name and team of the lost one. The key that this computer has now is kept aside, with its own points.</source>
        <translation>Uma nova chave neste computador recebe os pontos, a situação, o nome e a equipe da chave perdida. A chave que este computador tem agora é guardada à parte, com os pontos dela.</translation>
    </message>
    <message>
        <source>It earns nothing more. You can still move its points later.</source>
        <translation>Ela não ganha mais nada. Você ainda pode trazer os pontos depois.</translation>
    </message>
</context>
<context>
    <name>ModelPage</name>
    <message>
        <source>The model that this computer helps to train.</source>
        <translation>O modelo que este computador ajuda a treinar.</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modelo</translation>
    </message>
    <message>
        <source>No run yet</source>
        <translation>Nenhum treinamento ainda</translation>
    </message>
    <message>
        <source>Once this computer is in a run, you can see here what its model learns.</source>
        <translation>Quando este computador estiver em um treinamento, você verá aqui o que o modelo aprende.</translation>
    </message>
    <message>
        <source>Open Runs</source>
        <translation>Abrir Treinamentos</translation>
    </message>
    <message>
        <source>{run}: the model that this computer helps to train.</source>
        <translation>{run}: o modelo que este computador ajuda a treinar.</translation>
    </message>
    <message>
        <source>Couldn't read the measures of this model. Tequio keeps trying.</source>
        <translation>Não foi possível ler as medições deste modelo. O Tequio continua tentando.</translation>
    </message>
    <message>
        <source>The model got worse: after round {number}, it guesses unseen text less well than after round {best}. Several members measured it and agree. The organisers can pause the run and go back to an earlier model.</source>
        <translation>O modelo piorou: depois da rodada {number}, ele adivinha pior um texto não visto do que depois da rodada {best}. Vários membros o mediram e concordam. Os organizadores podem pausar o treinamento e voltar a um modelo anterior.</translation>
    </message>
    <message>
        <source>This model has not been measured yet. Some members measure it every few rounds if the run's rules say so, and the results appear here.</source>
        <translation>Este modelo ainda não foi medido. Se as regras do treinamento previrem, alguns membros o medem a cada poucas rodadas, e os resultados aparecem aqui.</translation>
    </message>
    <message>
        <source>Asking the network how well the model does.</source>
        <translation>Perguntando à rede como o modelo está indo.</translation>
    </message>
    <message>
        <source>{problem}. Tequio will keep trying.</source>
        <translation>{problem}. O Tequio vai continuar tentando.</translation>
    </message>
    <message>
        <source>Couldn't load the model</source>
        <translation>Não foi possível carregar o modelo</translation>
    </message>
    <message>
        <source>Looking for the model</source>
        <translation>Procurando o modelo</translation>
    </message>
    <message>
        <source>Asking the network which run this computer is in.</source>
        <translation>Perguntando à rede em qual treinamento este computador está.</translation>
    </message>
</context>
<context>
    <name>NameControl</name>
    <message>
        <source>Choose…</source>
        <translation>Escolher…</translation>
    </message>
    <message>
        <source>Change…</source>
        <translation>Mudar…</translation>
    </message>
    <message>
        <source>You can choose a name once a round has accepted your work.</source>
        <translation>Você pode escolher um nome quando uma rodada tiver aceitado seu trabalho.</translation>
    </message>
</context>
<context>
    <name>NameDialog</name>
    <message>
        <source>Public name</source>
        <translation>Nome público</translation>
    </message>
    <message>
        <source>The name is unique in this network. You can change it once every 30 days, and nobody else can take your former name for that long.</source>
        <translation>O nome é único nesta rede. Você pode mudá-lo uma vez a cada 30 dias; durante esse tempo, ninguém mais pode pegar o anterior.</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Nome</translation>
    </message>
    <message>
        <source>No name</source>
        <translation>Sem nome</translation>
    </message>
    <message>
        <source>Names are public and permanent: old ones stay in the log.</source>
        <translation>Nomes são públicos e permanentes: os antigos ficam no log.</translation>
    </message>
    <message>
        <source>2 to 32 letters of one script and digits, with single spaces, hyphens or underscores between them.</source>
        <translation>2 a 32 letras de um mesmo alfabeto e algarismos, com espaços, hifens ou sublinhados únicos entre eles.</translation>
    </message>
    <message>
        <source>This is not a possible name: use 2 to 32 letters of one script and digits, with single spaces, hyphens or underscores between them.</source>
        <translation>Este nome não é possível: use 2 a 32 letras de um mesmo alfabeto e algarismos, com espaços, hifens ou sublinhados únicos entre eles.</translation>
    </message>
    <message>
        <source>Remove the name</source>
        <translation>Remover o nome</translation>
    </message>
    <message>
        <source>Use this name</source>
        <translation>Usar este nome</translation>
    </message>
</context>
<context>
    <name>NetworkChooser</name>
    <message>
        <source>Address or invitation link</source>
        <translation>Endereço ou link de convite</translation>
    </message>
    <message>
        <source>Join</source>
        <translation>Entrar</translation>
    </message>
    <message>
        <source>Or paste an address</source>
        <translation>Ou cole um endereço</translation>
    </message>
    <message>
        <source>Paste an address</source>
        <translation>Cole um endereço</translation>
    </message>
    <message>
        <source>Organisers publish the address of their network's ledger, or send you an invitation link. Nothing is lent by joining.</source>
        <translation>Os organizadores publicam o endereço do registro da rede ou enviam um link de convite. Entrar não empresta nada.</translation>
    </message>
    <message>
        <source>This link is not complete. Copy all of it, from {scheme}:// to its end.</source>
        <translation>Este link não está completo. Copie-o inteiro, de {scheme}:// até o fim.</translation>
    </message>
    <message>
        <source>Looking for a ledger at {address}…</source>
        <translation>Procurando um registro em {address}…</translation>
    </message>
    <message>
        <source>“{name}” is not the network that your key and points belong to. To join it as well, start the app with another folder: tequio app --dir {folder}</source>
        <translation>“{name}” não é a rede à qual sua chave e seus pontos pertencem. Para entrar nela também, abra o aplicativo com outra pasta: tequio app --dir {folder}</translation>
    </message>
    <message>
        <source>Its log must be signed by independent witnesses, too.</source>
        <translation>O log também precisa ser assinado por testemunhas independentes.</translation>
    </message>
</context>
<context>
    <name>NetworkPanel</name>
    <message>
        <source>First, choose a network</source>
        <translation>Primeiro, escolha uma rede</translation>
    </message>
    <message>
        <source>Another network…</source>
        <translation>Outra rede…</translation>
    </message>
    <message>
        <source>Network: {ledger}</source>
        <translation>Rede: {ledger}</translation>
    </message>
</context>
<context>
    <name>NewKeyCard</name>
    <message>
        <source>Make my key</source>
        <translation>Criar minha chave</translation>
    </message>
    <message>
        <source>I have one already…</source>
        <translation>Já tenho uma…</translation>
    </message>
    <message>
        <source>Where should it be stored?</source>
        <translation>Onde ela deve ser guardada?</translation>
    </message>
</context>
<context>
    <name>NewPassphrase</name>
    <message>
        <source>Passphrase</source>
        <translation>Frase secreta</translation>
    </message>
    <message>
        <source>Repeat the passphrase</source>
        <translation>A mesma frase secreta de novo</translation>
    </message>
    <message>
        <source>Show what I type</source>
        <translation>Mostrar o que digito</translation>
    </message>
    <message>
        <source>The two are not the same.</source>
        <translation>As duas não são iguais.</translation>
    </message>
    <message>
        <source>At least {least} characters.</source>
        <translation>Pelo menos {least} caracteres.</translation>
    </message>
    <message>
        <source>Longer is safer: four or five unrelated words do well.</source>
        <translation>Mais longa é mais segura: quatro ou cinco palavras sem relação funcionam bem.</translation>
    </message>
    <message>
        <source>Nobody can reset it: without it the key cannot be opened.</source>
        <translation>Ninguém pode redefini-la: sem ela, a chave não pode ser aberta.</translation>
    </message>
</context>
<context>
    <name>Notifier</name>
    <message>
        <source>Tequio goes on in the background</source>
        <translation>O Tequio continua em segundo plano</translation>
    </message>
    <message>
        <source>Its tray icon shows what it is doing, and opens this window again.</source>
        <translation>O ícone no painel mostra o que ele faz e abre esta janela de novo.</translation>
    </message>
    <message>
        <source>{points} points so far. The log's proof was checked on this computer.</source>
        <translation>{points} pontos até agora. A prova do log foi verificada neste computador.</translation>
    </message>
    <message>
        <source>Your first points are verified</source>
        <translation>Seus primeiros pontos foram verificados</translation>
    </message>
    <message>
        <source>You are #{rank} of {ranked}</source>
        <translation>Você é o nº {rank} de {ranked}</translation>
    </message>
    <message numerus="yes">
        <source>%n place(s) up since you were last told.</source>
        <translation>
            <numerusform>%n posição acima desde a última vez.</numerusform>
            <numerusform>%n posições acima desde a última vez.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n place(s) down since you were last told.</source>
        <translation>
            <numerusform>%n posição abaixo desde a última vez.</numerusform>
            <numerusform>%n posições abaixo desde a última vez.</numerusform>
        </translation>
    </message>
    <message>
        <source>The same place as last time.</source>
        <translation>A mesma posição da última vez.</translation>
    </message>
    <message>
        <source>From the network's organisers</source>
        <translation>Dos organizadores da rede</translation>
    </message>
    <message>
        <source>Tequio needs your attention</source>
        <translation>O Tequio precisa da sua atenção</translation>
    </message>
    <message>
        <source>Open Tequio</source>
        <translation>Abrir o Tequio</translation>
    </message>
</context>
<context>
    <name>OrganiserNotices</name>
    <message>
        <source>From the organisers of this network: {text}</source>
        <translation>Dos organizadores desta rede: {text}</translation>
    </message>
    <message>
        <source>{run} is paused by its organisers: {text}</source>
        <translation>Os organizadores pausaram {run}: {text}</translation>
    </message>
    <message>
        <source>From the organisers of {run}: {text}</source>
        <translation>Dos organizadores de {run}: {text}</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>Dispensar</translation>
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
        <translation>Membros da equipe</translation>
    </message>
    <message>
        <source>Join link</source>
        <translation>Link de entrada</translation>
    </message>
    <message>
        <source>Code</source>
        <translation>Código</translation>
    </message>
    <message>
        <source>Make a new link</source>
        <translation>Criar um novo link</translation>
    </message>
    <message>
        <source>Close the link</source>
        <translation>Fechar o link</translation>
    </message>
    <message>
        <source>Points of the goal</source>
        <translation>Pontos da meta</translation>
    </message>
    <message>
        <source>No goal</source>
        <translation>Sem meta</translation>
    </message>
    <message>
        <source>Last day of the goal</source>
        <translation>Último dia da meta</translation>
    </message>
    <message>
        <source>Set the goal</source>
        <translation>Definir a meta</translation>
    </message>
    <message>
        <source>New name of the team</source>
        <translation>Novo nome da equipe</translation>
    </message>
    <message>
        <source>Use this name</source>
        <translation>Usar este nome</translation>
    </message>
    <message>
        <source>Remove…</source>
        <translation>Remover…</translation>
    </message>
    <message>
        <source>Hand over…</source>
        <translation>Transferir…</translation>
    </message>
    <message>
        <source>Open its page</source>
        <translation>Abrir a página dela</translation>
    </message>
    <message>
        <source>Leave the team…</source>
        <translation>Sair da equipe…</translation>
    </message>
    <message>
        <source>The organisers of the network withdrew the team's name. Choose another one.</source>
        <translation>Os organizadores da rede retiraram o nome da equipe. Escolha outro.</translation>
    </message>
    <message>
        <source>The same as a code, for people in this network:</source>
        <translation>O mesmo como código, para quem está nesta rede:</translation>
    </message>
    <message>
        <source>Goal: {reached} of {goal} points by {day}</source>
        <translation>Meta: {reached} de {goal} pontos até {day}</translation>
    </message>
    <message>
        <source>Goal reached: {reached} of {goal} points by {day}</source>
        <translation>Meta atingida: {reached} de {goal} pontos até {day}</translation>
    </message>
    <message>
        <source>Everyone who has it can join until {day}. A new link ends this one.</source>
        <translation>Quem o tiver pode entrar até {day}. Um novo link encerra este.</translation>
    </message>
    <message>
        <source>The present link was made with another key or ended.</source>
        <translation>O link atual foi criado com outra chave ou venceu.</translation>
    </message>
    <message>
        <source>Nobody can join at the moment.</source>
        <translation>Ninguém pode entrar no momento.</translation>
    </message>
</context>
<context>
    <name>PeriodicQuestion</name>
    <message>
        <source>The worker does not answer</source>
        <translation>O serviço em segundo plano não responde</translation>
    </message>
</context>
<context>
    <name>PointsExport</name>
    <message>
        <source>the worker does not answer</source>
        <translation>o serviço em segundo plano não responde</translation>
    </message>
    <message>
        <source>{file} was not written: {why}. Choose another place, or try again.</source>
        <translation>{file} não foi gravado: {why}. Escolha outro lugar ou tente de novo.</translation>
    </message>
</context>
<context>
    <name>PointsPage</name>
    <message>
        <source>Share…</source>
        <translation>Compartilhar…</translation>
    </message>
    <message>
        <source>Export CSV</source>
        <translation>Exportar CSV</translation>
    </message>
    <message>
        <source>Points</source>
        <translation>Pontos</translation>
    </message>
    <message>
        <source>Counted only when this computer has checked the proof in the ledger's log.</source>
        <translation>Só contam quando este computador verifica a prova no log do registro.</translation>
    </message>
    <message>
        <source>Export all rounds</source>
        <translation>Exportar todas as rodadas</translation>
    </message>
    <message>
        <source>Comma-separated values (*.csv)</source>
        <translation>Valores separados por vírgula (*.csv)</translation>
    </message>
    <message>
        <source>Processor</source>
        <translation>Processador</translation>
    </message>
    <message>
        <source>Your key has no public page yet: it gets one when it joins the network.</source>
        <translation>Sua chave ainda não tem uma página pública: ela ganha uma quando entra na rede.</translation>
    </message>
    <message>
        <source>The ledger says that you have {points} more points. This computer has not read and checked their log entries yet, so they are not counted here. It does so automatically.</source>
        <translation>O registro diz que você tem mais {points} pontos. As entradas deles no log ainda não foram lidas e verificadas aqui, então não estão contadas. Isso continua sozinho.</translation>
    </message>
    <message numerus="yes">
        <source>%Ln round(s) written to {file}</source>
        <translation>
            <numerusform>%Ln rodada gravada em {file}</numerusform>
            <numerusform>%Ln rodadas gravadas em {file}</numerusform>
        </translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Fechar</translation>
    </message>
</context>
<context>
    <name>PointsRange</name>
    <message>
        <source>Verified points over time</source>
        <translation>Pontos verificados</translation>
    </message>
    <message>
        <source>Time span</source>
        <translation>Período</translation>
    </message>
    <message>
        <source>24 h</source>
        <translation>24 h</translation>
    </message>
    <message>
        <source>7 days</source>
        <translation>7 dias</translation>
    </message>
    <message>
        <source>30 days</source>
        <translation>30 dias</translation>
    </message>
    <message>
        <source>All</source>
        <translation>Tudo</translation>
    </message>
    <message>
        <source>No points were verified in this time.</source>
        <translation>Nenhum ponto foi verificado neste período.</translation>
    </message>
    <message>
        <source>{total} points in this time</source>
        <translation>{total} pontos neste período</translation>
    </message>
    <message>
        <source>{summary}; most at {when}: {points}</source>
        <translation>{summary}; o máximo em {when}: {points}</translation>
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
        <translation>Provisórios</translation>
    </message>
    <message>
        <source>Pending</source>
        <translation>Pendentes</translation>
    </message>
    <message>
        <source>Rejected today</source>
        <translation>Recusadas hoje</translation>
    </message>
    <message>
        <source>{points} today</source>
        <translation>{points} hoje</translation>
    </message>
    <message>
        <source>Rounds that are not proven yet</source>
        <translation>Rodadas ainda sem prova</translation>
    </message>
    <message>
        <source>Nothing pending</source>
        <translation>Nada em aberto</translation>
    </message>
    <message>
        <source>Rounds that gave nothing</source>
        <translation>Rodadas sem pontos</translation>
    </message>
    <message>
        <source>None today</source>
        <translation>Nenhuma hoje</translation>
    </message>
    <message>
        <source>{points} were forfeited</source>
        <translation>{points} foram perdidos</translation>
    </message>
    <message>
        <source>Final after a few more rounds</source>
        <translation>Seus após algumas rodadas</translation>
    </message>
    <message>
        <source>All points are final</source>
        <translation>Todos são definitivos</translation>
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
        <translation>Começa após 15 min sem atividade. Pausa durante filmes e quando outros programas usam um quarto da CPU.</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>Equilibrado</translation>
    </message>
    <message>
        <source>Starts after 5 min without input. Continues during films; other programs may use half of the CPU.</source>
        <translation>Começa após 5 min sem atividade. Continua durante filmes; outros programas podem usar metade da CPU.</translation>
    </message>
    <message>
        <source>Max</source>
        <translation>Máximo</translation>
    </message>
    <message>
        <source>Starts after 1 min without input, and runs gently while you use the computer. Other programs may use three quarters of the CPU.</source>
        <translation>Começa após 1 min sem atividade e roda de leve enquanto você usa o computador. Outros programas podem usar três quartos da CPU.</translation>
    </message>
    <message>
        <source>You have changed settings that presets cover. A preset changes only the settings named on its card.</source>
        <translation>Você mudou configurações que fazem parte dos perfis. Um perfil só muda as configurações citadas no cartão dele.</translation>
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
        <translation>Escolher um programa</translation>
    </message>
    <message>
        <source>Name of the program</source>
        <translation>Nome do programa</translation>
    </message>
    <message>
        <source>Search, or type a name such as blender</source>
        <translation>Pesquise ou digite um nome, como blender</translation>
    </message>
    <message>
        <source>Programs running now</source>
        <translation>Programas abertos agora</translation>
    </message>
    <message>
        <source>Looking for programs…</source>
        <translation>Procurando programas…</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>Adicionar</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Cancelar</translation>
    </message>
    <message>
        <source>No running program has this name. Add uses it as you typed it.</source>
        <translation>Nenhum programa aberto tem este nome. Adicionar usa o nome como você digitou.</translation>
    </message>
    <message>
        <source>Nothing is lent while it runs. Pick a running program, or type its name.</source>
        <translation>Nada é emprestado enquanto ele roda. Escolha um programa aberto ou digite o nome.</translation>
    </message>
</context>
<context>
    <name>ProtectionDialog</name>
    <message>
        <source>How your key is kept</source>
        <translation>Como sua chave fica guardada</translation>
    </message>
    <message>
        <source>The key stays the same. Backups that you have made remain valid.</source>
        <translation>A chave continua a mesma. Os backups que você fez continuam valendo.</translation>
    </message>
    <message>
        <source>Store it this way</source>
        <translation>Guardar assim</translation>
    </message>
</context>
<context>
    <name>ProtectionPanel</name>
    <message>
        <source>In this system's keyring</source>
        <translation>No chaveiro deste sistema</translation>
    </message>
    <message>
        <source>Unlocked automatically while you are logged in. The file alone is worth nothing.</source>
        <translation>Desbloqueada automaticamente enquanto você está na sessão. O arquivo sozinho não vale nada.</translation>
    </message>
    <message>
        <source>Under a passphrase</source>
        <translation>Sob uma frase secreta</translation>
    </message>
    <message>
        <source>Tequio asks for it at each start, so it can't start lending automatically at login.</source>
        <translation>O Tequio a pede a cada início, então não pode começar a emprestar automaticamente ao entrar na sessão.</translation>
    </message>
    <message>
        <source>In an unencrypted file</source>
        <translation>Em um arquivo sem criptografia</translation>
    </message>
    <message>
        <source>Only your user account can read it. For servers and computers that nobody else uses.</source>
        <translation>Só a sua conta de usuário pode lê-lo. Para servidores e computadores que ninguém mais usa.</translation>
    </message>
    <message>
        <source>Not encrypted: any program that you run can read the key and take your points, and so can anyone with a copy of this disk or of your files.</source>
        <translation>Sem criptografia: qualquer programa que você roda pode ler a chave e levar seus pontos, e também quem tiver uma cópia deste disco ou dos seus arquivos.</translation>
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
        <translation>Rodada {number}, no Hugging Face Hub</translation>
    </message>
    <message>
        <source>Open round {number} of {repo} in the browser</source>
        <translation>Abrir a rodada {number} de {repo} no navegador</translation>
    </message>
</context>
<context>
    <name>RaceChart</name>
    <message>
        <source>Round {number}</source>
        <translation>Rodada {number}</translation>
    </message>
</context>
<context>
    <name>RankingCard</name>
    <message>
        <source>Around you</source>
        <translation>Perto de você</translation>
    </message>
    <message>
        <source>Ranking around you</source>
        <translation>Classificação perto de você</translation>
    </message>
    <message>
        <source>Full ranking</source>
        <translation>Classificação completa</translation>
    </message>
    <message>
        <source>Not ranked yet</source>
        <translation>Ainda sem posição</translation>
    </message>
    <message>
        <source>After your first verified round you see who has about as many points.</source>
        <translation>Depois da sua primeira rodada verificada, você vê quem tem mais ou menos os mesmos pontos.</translation>
    </message>
    <message>
        <source>No ranking now</source>
        <translation>Sem classificação agora</translation>
    </message>
    <message>
        <source>The network does not answer. Tequio keeps trying.</source>
        <translation>A rede não responde. O Tequio continua tentando.</translation>
    </message>
</context>
<context>
    <name>RankingRows</name>
    <message>
        <source>Volunteer</source>
        <translation>Voluntário</translation>
    </message>
    <message>
        <source>Points</source>
        <translation>Pontos</translation>
    </message>
    <message>
        <source>{name} (you)</source>
        <translation>{name} (você)</translation>
    </message>
    <message>
        <source>You</source>
        <translation>Você</translation>
    </message>
</context>
<context>
    <name>ReachabilityChip</name>
    <message>
        <source>Yes</source>
        <translation>Sim</translation>
    </message>
    <message>
        <source>No</source>
        <translation>Não</translation>
    </message>
    <message>
        <source>Not known yet</source>
        <translation>Ainda desconhecido</translation>
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
        <translation>Outros programas</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Memória</translation>
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
        <translation>Potência</translation>
    </message>
</context>
<context>
    <name>ReadyStep</name>
    <message>
        <source>Ready</source>
        <translation>Pronto</translation>
    </message>
    <message>
        <source>Your choices apply once you press the button below.</source>
        <translation>Suas escolhas valem assim que você apertar o botão abaixo.</translation>
    </message>
    <message>
        <source>Contribute</source>
        <translation>Contribuir</translation>
    </message>
    <message>
        <source>What happens next</source>
        <translation>O que acontece agora</translation>
    </message>
    <message>
        <source>Closing the window hides it; the tray icon shows the state, and pauses everything with two clicks.</source>
        <translation>Fechar a janela só a esconde; o ícone no painel mostra o estado e pausa tudo com dois cliques.</translation>
    </message>
    <message>
        <source>Join and download</source>
        <translation>Entrar e baixar</translation>
    </message>
    <message>
        <source>Begin when you are away</source>
        <translation>Começar quando você sair</translation>
    </message>
    <message>
        <source>First points</source>
        <translation>Primeiros pontos</translation>
    </message>
    <message>
        <source>They are pending when your first round ends, and verified when the ledger has closed it and your computer has checked the proof, usually one round later.</source>
        <translation>Eles ficam pendentes quando sua primeira rodada termina, e são verificados quando o registro a fecha e seu computador confere a prova, em geral uma rodada depois.</translation>
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
        <translation>Inicia ao entrar na sessão</translation>
    </message>
    <message>
        <source>Starts by hand</source>
        <translation>Inicia manualmente</translation>
    </message>
    <message>
        <source>Run: as chosen</source>
        <translation>Treinamento: o escolhido</translation>
    </message>
    <message>
        <source>Run: automatic</source>
        <translation>Treinamento: automático</translation>
    </message>
    <message>
        <source>No network yet</source>
        <translation>Nenhuma rede ainda</translation>
    </message>
    <message>
        <source>Key not backed up</source>
        <translation>Chave sem backup</translation>
    </message>
    <message>
        <source>Tequio joins the run that you chose, and downloads its model and first data once.</source>
        <translation>O computador entra no treinamento que você escolheu; o modelo e os primeiros dados são baixados uma vez.</translation>
    </message>
    <message>
        <source>Tequio joins the run that fits best, and downloads its model and first data once.</source>
        <translation>O computador entra no treinamento mais adequado; o modelo e os primeiros dados são baixados uma vez.</translation>
    </message>
    <message>
        <source>{run}: {data} to download once, about {time} at 50 Mbit/s.</source>
        <translation>{run}: {data} são baixados uma vez, cerca de {time} em uma conexão de 50 Mbit/s.</translation>
    </message>
    <message>
        <source>First it downloads what training needs, once: {size}, {disk} on the disk.</source>
        <translation>Antes disso vem, uma vez, o que o treinamento exige: {size}, {disk} no disco.</translation>
    </message>
    <message numerus="yes">
        <source>%n minute(s) after your last input. A key or the mouse stops it.</source>
        <translation>
            <numerusform>%n minuto depois da sua última ação. Uma tecla ou o mouse o para.</numerusform>
            <numerusform>%n minutos depois da sua última ação. Uma tecla ou o mouse o para.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Immediately at {share} of the time, and fully %n minute(s) after your last input.</source>
        <translation>
            <numerusform>Na hora a {share} do tempo, e por inteiro %n minuto depois da sua última ação.</numerusform>
            <numerusform>Na hora a {share} do tempo, e por inteiro %n minutos depois da sua última ação.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RecoveryControl</name>
    <message>
        <source>Make one…</source>
        <translation>Criar…</translation>
    </message>
    <message>
        <source>Not known yet</source>
        <translation>Ainda desconhecido</translation>
    </message>
    <message>
        <source>Set</source>
        <translation>Criada</translation>
    </message>
    <message>
        <source>Change it…</source>
        <translation>Mudar…</translation>
    </message>
    <message>
        <source>None yet</source>
        <translation>Nenhuma ainda</translation>
    </message>
</context>
<context>
    <name>RecoveryDialog</name>
    <message>
        <source>Make a recovery key</source>
        <translation>Criar uma chave de recuperação</translation>
    </message>
    <message>
        <source>If this computer is stolen or breaks, the recovery key stops its key and moves your points to a new one. Keep it away from this computer.</source>
        <translation>Se este computador for roubado ou quebrar, a chave de recuperação bloqueia a chave dele e leva seus pontos para uma nova. Guarde-a longe deste computador.</translation>
    </message>
    <message>
        <source>Change the recovery key</source>
        <translation>Mudar a chave de recuperação</translation>
    </message>
    <message>
        <source>Passphrase of the file</source>
        <translation>Frase secreta do arquivo</translation>
    </message>
    <message>
        <source>The present recovery key</source>
        <translation>A chave de recuperação atual</translation>
    </message>
    <message>
        <source>The new one</source>
        <translation>A nova</translation>
    </message>
    <message>
        <source>Store it as</source>
        <translation>Guardar como</translation>
    </message>
    <message>
        <source>24 words</source>
        <translation>24 palavras</translation>
    </message>
    <message>
        <source>A file</source>
        <translation>Um arquivo</translation>
    </message>
    <message>
        <source>The file is sealed under a passphrase. Put it on a USB stick or another computer.</source>
        <translation>O arquivo é protegido por uma frase secreta. Coloque-o em um pen drive ou em outro computador.</translation>
    </message>
    <message>
        <source>Save the file…</source>
        <translation>Salvar o arquivo…</translation>
    </message>
    <message>
        <source>Show the words</source>
        <translation>Mostrar as palavras</translation>
    </message>
    <message>
        <source>I have written them down</source>
        <translation>Já anotei</translation>
    </message>
    <message>
        <source>Use this recovery key</source>
        <translation>Usar esta chave de recuperação</translation>
    </message>
    <message>
        <source>Save the recovery key</source>
        <translation>Salvar a chave de recuperação</translation>
    </message>
</context>
<context>
    <name>ReleaseService</name>
    <message>
        <source>Try again</source>
        <translation>Tentar de novo</translation>
    </message>
    <message>
        <source>Version {version} is ready, and starts the next time Tequio starts.</source>
        <translation>A versão {version} está pronta e começa na próxima vez que o Tequio iniciar.</translation>
    </message>
    <message>
        <source>Restart now</source>
        <translation>Reiniciar agora</translation>
    </message>
    <message>
        <source>Before this computer can train, it needs a download of {size}, which takes {disk} on the disk.</source>
        <translation>Antes de treinar, este computador precisa baixar {size}, que ocupam {disk} no disco.</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>Baixar</translation>
    </message>
    <message>
        <source>Testing what was downloaded…</source>
        <translation>Testando o que foi baixado…</translation>
    </message>
    <message>
        <source>Downloading what training needs</source>
        <translation>Baixando o que o treinamento exige</translation>
    </message>
    <message>
        <source>Downloading version {version}</source>
        <translation>Baixando a versão {version}</translation>
    </message>
    <message>
        <source>{what}: {done} of {total}</source>
        <translation>{what}: {done} de {total}</translation>
    </message>
    <message>
        <source>The updater stopped unexpectedly.</source>
        <translation>O atualizador parou inesperadamente.</translation>
    </message>
    <message>
        <source>There is no newer version of Tequio yet.</source>
        <translation>Ainda não há uma versão mais nova do Tequio.</translation>
    </message>
</context>
<context>
    <name>ReplaceControl</name>
    <message>
        <source>Replace…</source>
        <translation>Substituir…</translation>
    </message>
</context>
<context>
    <name>ReplaceDialog</name>
    <message>
        <source>Replace this computer's key</source>
        <translation>Substituir a chave deste computador</translation>
    </message>
    <message>
        <source>A new key takes over your points, standing, name and team. Do this if somebody else may have seen the key. It does not end a quarantine.</source>
        <translation>Uma nova chave assume seus pontos, sua situação, seu nome e sua equipe. Faça isso se outra pessoa pode ter visto a chave. Isso não encerra uma quarentena.</translation>
    </message>
    <message>
        <source>Replace the key</source>
        <translation>Substituir a chave</translation>
    </message>
    <message>
        <source>Passphrase of the file</source>
        <translation>Frase secreta do arquivo</translation>
    </message>
    <message>
        <source>Your recovery key</source>
        <translation>Sua chave de recuperação</translation>
    </message>
    <message>
        <source>I know that the present key can never be used again</source>
        <translation>Sei que a chave atual nunca mais poderá ser usada</translation>
    </message>
    <message>
        <source>Afterwards, back up the new key: old backups become worthless.</source>
        <translation>Depois, faça backup da nova chave: os backups antigos perdem o valor.</translation>
    </message>
</context>
<context>
    <name>ResetButton</name>
    <message>
        <source>Reset all settings</source>
        <translation>Restaurar todos os padrões</translation>
    </message>
    <message>
        <source>All settings have their defaults again.</source>
        <translation>Todas as configurações voltaram ao padrão.</translation>
    </message>
</context>
<context>
    <name>RestoreDialog</name>
    <message>
        <source>Restore a key</source>
        <translation>Restaurar uma chave</translation>
    </message>
    <message>
        <source>With your earlier key you are the same volunteer, with the same points. Use it on one computer at a time. A key that is here now is kept aside.</source>
        <translation>Com sua chave anterior, você é o mesmo voluntário, com os mesmos pontos. Use-a em um computador por vez. Uma chave que esteja aqui agora é guardada à parte.</translation>
    </message>
    <message>
        <source>Restore</source>
        <translation>Restaurar</translation>
    </message>
    <message>
        <source>Passphrase of the backup</source>
        <translation>Frase secreta do backup</translation>
    </message>
    <message>
        <source>How it is kept here</source>
        <translation>Como ela fica guardada aqui</translation>
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
        <translation>bits por byte e perplexidade por byte, quanto menos, melhor</translation>
    </message>
    <message>
        <source>The dot is the score. If other texts of the same kind had been drawn, it would lie within the bar 95 times in 100. Entrants that cannot be told apart share a place.</source>
        <translation>O ponto é a nota. Se outros textos do mesmo tipo tivessem sido sorteados, ela ficaria dentro da barra em 95 de cada 100 vezes. Participantes que não se distinguem dividem uma posição.</translation>
    </message>
    <message>
        <source>Check it yourself</source>
        <translation>Confira você mesmo</translation>
    </message>
    <message>
        <source>The command that checks it</source>
        <translation>O comando que confere</translation>
    </message>
    <message>
        <source>Not ranked: too few of the drawn evaluators scored the entrants.</source>
        <translation>Sem posição: poucos dos avaliadores sorteados avaliaram os participantes.</translation>
    </message>
</context>
<context>
    <name>ResultTable</name>
    <message>
        <source>Places</source>
        <translation>Posições</translation>
    </message>
    <message>
        <source>{name}: not ranked</source>
        <translation>{name}: sem posição</translation>
    </message>
    <message>
        <source>Place {rank}, {name}: {score} bits per byte, between {low} and {high}; perplexity {perplexity} per byte</source>
        <translation>Posição {rank}, {name}: {score} bits por byte, entre {low} e {high}; perplexidade {perplexity} por byte</translation>
    </message>
</context>
<context>
    <name>RoleCard</name>
    <message>
        <source>What this computer can do instead</source>
        <translation>O que este computador pode fazer em vez disso</translation>
    </message>
    <message>
        <source>Role</source>
        <translation>O papel dele</translation>
    </message>
    <message>
        <source>Witness (fits best)</source>
        <translation>Testemunha (o mais adequado)</translation>
    </message>
    <message>
        <source>Train on the processor</source>
        <translation>Treinar no processador</translation>
    </message>
    <message>
        <source>Slower than any graphics card, and for small models only. Earns a few points.</source>
        <translation>Mais lento que qualquer placa de vídeo, e só para modelos pequenos. Rende alguns pontos.</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>Automático</translation>
    </message>
    <message>
        <source>Both: trains the model, and checks the work of others.</source>
        <translation>As duas coisas: treina o modelo e verifica o trabalho dos outros.</translation>
    </message>
    <message>
        <source>Checks the work of others and signs what is correct. It trains nothing and uses little electricity.</source>
        <translation>Verifica o trabalho dos outros e assina o que está certo. Não treina nada e gasta pouca energia.</translation>
    </message>
    <message>
        <source>Earns a small part of what training earns.</source>
        <translation>Rende uma pequena parte do que o treinamento rende.</translation>
    </message>
    <message>
        <source>All witnesses of a round share {percent} of what its trainers earn.</source>
        <translation>Todas as testemunhas de uma rodada dividem {percent} do que os treinadores dela ganham.</translation>
    </message>
</context>
<context>
    <name>RoundCard</name>
    <message>
        <source>Round</source>
        <translation>Rodada</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>Treinamento</translation>
    </message>
    <message>
        <source>Loss</source>
        <translation>Perda</translation>
    </message>
    <message>
        <source>Bits per byte</source>
        <translation>Bits por byte</translation>
    </message>
    <message>
        <source>Perplexity</source>
        <translation>Perplexidade</translation>
    </message>
    <message>
        <source>The model and its data are fetched once; then the first round begins.</source>
        <translation>O modelo e os dados são baixados uma vez; depois começa a primeira rodada.</translation>
    </message>
    <message>
        <source>Once this computer has joined a run, it trains round by round.</source>
        <translation>Depois de entrar em um treinamento, este computador treina rodada a rodada.</translation>
    </message>
    <message>
        <source>Joining a run</source>
        <translation>Entrando em um treinamento</translation>
    </message>
    <message>
        <source>No round now</source>
        <translation>Nenhuma rodada agora</translation>
    </message>
    <message>
        <source>of round</source>
        <translation>da rodada</translation>
    </message>
    <message>
        <source>Trainer</source>
        <translation>Treinador</translation>
    </message>
    <message>
        <source>Witness</source>
        <translation>Testemunha</translation>
    </message>
    <message>
        <source>No role yet</source>
        <translation>Sem papel ainda</translation>
    </message>
    <message>
        <source>Auditor</source>
        <translation>Auditor</translation>
    </message>
    <message>
        <source>Not taking part</source>
        <translation>Não participa</translation>
    </message>
    <message>
        <source>Round {number} of {rounds}</source>
        <translation>Rodada {number} de {rounds}</translation>
    </message>
    <message>
        <source>Round {number}</source>
        <translation>Rodada {number}</translation>
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
        <translation>faltam {time}</translation>
    </message>
</context>
<context>
    <name>RoundDialog</name>
    <message>
        <source>{run}, round {number}</source>
        <translation>{run}, rodada {number}</translation>
    </message>
    <message>
        <source>Shared by others</source>
        <translation>Compartilhados por outros</translation>
    </message>
    <message>
        <source>When</source>
        <translation>Quando</translation>
    </message>
    <message>
        <source>Points</source>
        <translation>Pontos</translation>
    </message>
    <message>
        <source>For training</source>
        <translation>Por treinar</translation>
    </message>
    <message>
        <source>For checking others' work</source>
        <translation>Por verificar o trabalho dos outros</translation>
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
        <translation>Energia</translation>
    </message>
    <message>
        <source>Ledger</source>
        <translation>Registro</translation>
    </message>
    <message>
        <source>Log entry</source>
        <translation>Entrada do log</translation>
    </message>
    <message>
        <source>Checkpoint, entries</source>
        <translation>Ponto de verificação, entradas</translation>
    </message>
    <message>
        <source>Checkpoint, root</source>
        <translation>Ponto de verificação, raiz</translation>
    </message>
    <message>
        <source>What was checked here</source>
        <translation>O que foi verificado aqui</translation>
    </message>
    <message>
        <source>This computer fetched the end of the round from the ledger's public log, read in it what you get, and checked that it is in the log that the ledger has signed. Nobody can change or remove it later without that showing.</source>
        <translation>Este computador buscou o fim da rodada no log público do registro, leu nele o que você recebe e verificou que isso está no log que o registro assinou. Ninguém pode mudar ou remover isso depois sem que se perceba.</translation>
    </message>
    <message>
        <source>To check the whole ledger yourself, run:</source>
        <translation>Para verificar você mesmo o registro inteiro, execute:</translation>
    </message>
    <message>
        <source>The command that checks it</source>
        <translation>O comando que confere</translation>
    </message>
    <message>
        <source>The round is not closed yet, or its end was not found in the ledger's signed log yet. Its points count when this computer has checked that.</source>
        <translation>A rodada ainda não foi fechada, ou seu fim ainda não foi encontrado no log assinado do registro. Os pontos dela contam quando este computador tiver verificado isso.</translation>
    </message>
    <message>
        <source>This round gave no points, so there is nothing to prove.</source>
        <translation>Esta rodada não deu pontos, então não há nada a provar.</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Copiar</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Fechar</translation>
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
        <translation>Treinamento</translation>
    </message>
    <message>
        <source>All runs</source>
        <translation>Todos os treinamentos</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Dispositivo</translation>
    </message>
    <message>
        <source>All devices</source>
        <translation>Todos os dispositivos</translation>
    </message>
    <message>
        <source>Rounds</source>
        <translation>Rodadas</translation>
    </message>
    <message>
        <source>Looking</source>
        <translation>Carregando</translation>
    </message>
    <message>
        <source>Reading the rounds of this key.</source>
        <translation>Lendo as rodadas desta chave.</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Tentar de novo</translation>
    </message>
    <message>
        <source>Older rounds are read as you scroll.</source>
        <translation>Rodadas mais antigas são lidas conforme você rola.</translation>
    </message>
    <message>
        <source>Couldn't load the rounds</source>
        <translation>Não foi possível carregar as rodadas</translation>
    </message>
    <message>
        <source>No round of that run was worked in on that device.</source>
        <translation>Nenhuma rodada desse treinamento foi trabalhada nesse dispositivo.</translation>
    </message>
    <message>
        <source>No matches</source>
        <translation>Nenhuma destas</translation>
    </message>
    <message>
        <source>Each round that this computer takes part in will appear here, with what it gave and the proof.</source>
        <translation>Cada rodada de que este computador participar vai aparecer aqui, com o que rendeu e a prova.</translation>
    </message>
    <message>
        <source>No round yet</source>
        <translation>Nenhuma rodada ainda</translation>
    </message>
</context>
<context>
    <name>RoundsRows</name>
    <message>
        <source>Round</source>
        <translation>Rodada</translation>
    </message>
    <message>
        <source>When</source>
        <translation>Quando</translation>
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
        <translation>Energia</translation>
    </message>
    <message>
        <source>Points</source>
        <translation>Pontos</translation>
    </message>
    <message>
        <source>Proof</source>
        <translation>Prova</translation>
    </message>
    <message>
        <source>Round {number}</source>
        <translation>Rodada {number}</translation>
    </message>
    <message>
        <source>{count} tokens</source>
        <translation>{count} tokens</translation>
    </message>
    <message>
        <source>{points} as witness</source>
        <translation>{points} como testemunha</translation>
    </message>
    <message>
        <source>Proof checked by this computer: open to see what that means</source>
        <translation>Prova verificada por este computador: abra para ver o que isso significa</translation>
    </message>
    <message>
        <source>No proof was checked yet</source>
        <translation>Nenhuma prova verificada ainda</translation>
    </message>
</context>
<context>
    <name>RulesCard</name>
    <message>
        <source>Rules</source>
        <translation>Regras</translation>
    </message>
    <message>
        <source>What an entrant may use</source>
        <translation>O que um participante pode usar</translation>
    </message>
    <message>
        <source>Texts that nobody has seen</source>
        <translation>Textos que ninguém viu</translation>
    </message>
    <message>
        <source>How it is scored</source>
        <translation>Como se avalia</translation>
    </message>
    <message>
        <source>Why it can be believed</source>
        <translation>Por que dá para confiar</translation>
    </message>
    <message>
        <source>Training data</source>
        <translation>Dados de treinamento</translation>
    </message>
    <message>
        <source>Rules about training data</source>
        <translation>Regras sobre os dados de treinamento</translation>
    </message>
    <message>
        <source>How many bits a model needs for each byte of the texts: fewer are better. Perplexity per byte is 2 to the power of these bits, and gives the same ranking. A model reads {window} tokens at a time, {stride} of them new. Entrants that cannot be told apart share a place.</source>
        <translation>De quantos bits um modelo precisa para cada byte dos textos: quanto menos, melhor. A perplexidade por byte é 2 elevado a esses bits e dá a mesma ordem. Um modelo lê {window} tokens por vez, {stride} deles novos. Participantes que nada distingue dividem uma posição.</translation>
    </message>
    <message>
        <source>{evaluators} computers that are not involved in any entry are drawn by lot to score. For each text the median score counts, so one dishonest evaluator changes nothing, and everything is in the log.</source>
        <translation>{evaluators} computadores que não têm relação com nenhum participante são sorteados para avaliar. De cada texto conta a nota do meio, então um mentiroso entre eles não muda nada, e tudo fica no log.</translation>
    </message>
    <message>
        <source>What may be trained on is written at this address:</source>
        <translation>O que pode ser usado para treinar está escrito neste endereço:</translation>
    </message>
    <message>
        <source>These rules say nothing about what may be trained on.</source>
        <translation>Estas regras não dizem nada sobre o que pode ser usado para treinar.</translation>
    </message>
    <message>
        <source>A model has at most {count} parameters.</source>
        <translation>Um modelo tem no máximo {count} parâmetros.</translation>
    </message>
    <message>
        <source>Its run may train on {count} tokens.</source>
        <translation>O treinamento dele pode usar {count} tokens.</translation>
    </message>
    <message numerus="yes">
        <source>It has %n hour(s) from the opening of its run.</source>
        <translation>
            <numerusform>Ele tem %n hora a partir da abertura do treinamento.</numerusform>
            <numerusform>Ele tem %n horas a partir da abertura do treinamento.</numerusform>
        </translation>
    </message>
    <message>
        <source>Size, tokens and time have no limit.</source>
        <translation>O quanto quiser: tamanho, tokens e tempo não têm limite.</translation>
    </message>
    <message>
        <source>{texts} texts, {size}, were sealed before the competition was opened. Only after the deadline are {drawn} of them drawn by lot.</source>
        <translation>{texts} textos, {size}, foram lacrados antes da abertura da competição. Só depois do prazo {drawn} deles são sorteados.</translation>
    </message>
    <message>
        <source>One person alone holds the key to them and has to be trusted.</source>
        <translation>Uma única pessoa tem a chave deles, e é preciso confiar nela.</translation>
    </message>
    <message>
        <source>The key to them is shared among {custodians} custodians; {needed} have to act together to open them.</source>
        <translation>A chave deles é dividida entre {custodians} guardiões; {needed} precisam agir juntos para abri-los.</translation>
    </message>
</context>
<context>
    <name>RunChat</name>
    <message>
        <source>Try the model</source>
        <translation>Experimentar o modelo</translation>
    </message>
    <message>
        <source>Opens {address} in the browser. It is a service of the organisers: nothing that it writes is checked by the network.</source>
        <translation>Abre {address} no navegador. É um serviço dos organizadores: a rede não verifica nada do que ele escreve.</translation>
    </message>
</context>
<context>
    <name>RunChoice</name>
    <message>
        <source>Rounds done</source>
        <translation>Rodadas feitas</translation>
    </message>
    <message>
        <source>Yours</source>
        <translation>Seu</translation>
    </message>
    <message>
        <source>Ended</source>
        <translation>Terminado</translation>
    </message>
    <message>
        <source>Chosen</source>
        <translation>Escolhido</translation>
    </message>
    <message>
        <source>Full</source>
        <translation>Lotado</translation>
    </message>
    <message>
        <source>Round {number} of {rounds}</source>
        <translation>Rodada {number} de {rounds}</translation>
    </message>
    <message>
        <source>Round {number}</source>
        <translation>Rodada {number}</translation>
    </message>
    <message numerus="yes">
        <source>%Ln volunteer(s)</source>
        <translation>
            <numerusform>%Ln voluntário</numerusform>
            <numerusform>%Ln voluntários</numerusform>
        </translation>
    </message>
    <message>
        <source>{members} of {most} volunteers</source>
        <translation>{members} de {most} voluntários</translation>
    </message>
</context>
<context>
    <name>RunCode</name>
    <message>
        <source>This run brings its own code: {name} {version} ({hash}).</source>
        <translation>Este treinamento traz seu próprio código: {name} {version} ({hash}).</translation>
    </message>
    <message>
        <source>You allowed it.</source>
        <translation>Você o permitiu.</translation>
    </message>
    <message>
        <source>It needs your consent before it trains here.</source>
        <translation>Ele precisa do seu consentimento antes de treinar aqui.</translation>
    </message>
</context>
<context>
    <name>RunDetail</name>
    <message>
        <source>What joining means</source>
        <translation>O que significa entrar</translation>
    </message>
    <message>
        <source>Join this run</source>
        <translation>Entrar neste treinamento</translation>
    </message>
    <message>
        <source>Stay on this run</source>
        <translation>Ficar neste treinamento</translation>
    </message>
    <message>
        <source>What it needs</source>
        <translation>O que é preciso</translation>
    </message>
    <message>
        <source>Choose for me</source>
        <translation>Escolher por mim</translation>
    </message>
    <message>
        <source>Tequio takes an open run that fits your device, your disk and the month's traffic; of several, the one with the most places free. When it ends, the next one is chosen the same way.</source>
        <translation>O Tequio escolhe um treinamento aberto que combine com seu dispositivo, seu disco e o tráfego do mês; entre vários, o que tiver mais vagas. Quando ele termina, o próximo é escolhido do mesmo jeito.</translation>
    </message>
    <message>
        <source>Tequio chooses for you</source>
        <translation>O Tequio escolhe por você</translation>
    </message>
    <message>
        <source>This computer works for {run} now.</source>
        <translation>Este computador trabalha para {run} agora.</translation>
    </message>
    <message>
        <source>Chosen</source>
        <translation>Escolhido</translation>
    </message>
    <message>
        <source>Ended</source>
        <translation>Terminado</translation>
    </message>
    <message>
        <source>Take back my consent</source>
        <translation>Retirar meu consentimento</translation>
    </message>
    <message>
        <source>Allow its code…</source>
        <translation>Permitir seu código…</translation>
    </message>
    <message>
        <source>This computer is in this run.</source>
        <translation>Este computador está neste treinamento.</translation>
    </message>
    <message>
        <source>This run has ended. Its model and its log stay where they are.</source>
        <translation>Este treinamento terminou. O modelo e o log dele ficam onde estão.</translation>
    </message>
    <message>
        <source>All places are taken. If you join, you wait until one is free.</source>
        <translation>Todas as vagas estão ocupadas. Se você entrar, espera até uma abrir.</translation>
    </message>
    <message>
        <source>Open to everyone whose device fits.</source>
        <translation>Aberto a todos cujo dispositivo sirva.</translation>
    </message>
    <message>
        <source>Joining downloads {first} once. While training, it uploads about {up} and downloads about {down} per hour; less while paused.</source>
        <translation>Entrar baixa {first} uma vez. Durante o treinamento, cerca de {up} sobem e {down} descem por hora; menos em pausa.</translation>
    </message>
    <message>
        <source>After a day it uses about {disk} on the disk, or your storage limit.</source>
        <translation>Depois de um dia, ele usa cerca de {disk} no disco, ou o seu limite de armazenamento.</translation>
    </message>
    <message>
        <source>This computer would earn about {points} points a day.</source>
        <translation>Este computador ganharia cerca de {points} pontos por dia.</translation>
    </message>
    <message>
        <source>The {left} left this month will not last for a day of lending.</source>
        <translation>Os {left} que restam neste mês não bastam para um dia de empréstimo.</translation>
    </message>
    <message numerus="yes">
        <source>The {left} left this month last for about %n day(s) of lending.</source>
        <translation>
            <numerusform>Os {left} que restam neste mês bastam para cerca de %n dia de empréstimo.</numerusform>
            <numerusform>Os {left} que restam neste mês bastam para cerca de %n dias de empréstimo.</numerusform>
        </translation>
    </message>
    <message>
        <source>Something here is less than this run needs, so this computer would wait. Raise a limit, or choose a run that fits.</source>
        <translation>Algo aqui é menos do que este treinamento exige, então este computador esperaria. Aumente um limite ou escolha um treinamento que sirva.</translation>
    </message>
    <message>
        <source>Your bandwidth limit is less than this run needs: some rounds may end without your work. Raise it in Settings, Network, or choose a run that fits.</source>
        <translation>Seu limite de conexão é menor do que este treinamento exige: algumas rodadas podem terminar sem seu trabalho. Aumente-o em Configurações, Rede, ou escolha um treinamento que sirva.</translation>
    </message>
    <message>
        <source>You chose this run. It stays chosen until you choose another.</source>
        <translation>Você escolheu este treinamento. Ele continua escolhido até você escolher outro.</translation>
    </message>
    <message>
        <source>Tequio chose it for you, and may choose another when this one ends.</source>
        <translation>O Tequio o escolheu por você e pode escolher outro quando este terminar.</translation>
    </message>
    <message>
        <source>Joining leaves the run that you are in now; your points stay yours.</source>
        <translation>Entrar tira você do treinamento em que está agora; seus pontos continuam seus.</translation>
    </message>
    <message numerus="yes">
        <source>This run needs {needed} of memory, and this computer lends {most}. One computer with %n card(s) like this one could train it: start a worker there by {command}.</source>
        <translation>
            <numerusform>Esta execução precisa de {needed} de memória e este computador empresta {most}. Um computador com %n placa de vídeo como esta poderia treiná-la: inicie nele o serviço em segundo plano ({command}).</numerusform>
            <numerusform>Esta execução precisa de {needed} de memória e este computador empresta {most}. Um computador com %n placas de vídeo como esta poderia treiná-la: inicie nele o serviço em segundo plano ({command}).</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>This run needs {needed} of memory, and this computer lends {most}. %n computer(s) like this one could train it together: open a cell with others in your network by {command}.</source>
        <translation>
            <numerusform>Esta execução precisa de {needed} de memória e este computador empresta {most}. %n computador como este poderia treiná-la: abra uma célula com outras pessoas da sua rede ({command}).</numerusform>
            <numerusform>Esta execução precisa de {needed} de memória e este computador empresta {most}. %n computadores como este poderiam treiná-la juntos: abra uma célula com outras pessoas da sua rede ({command}).</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RunFigures</name>
    <message>
        <source>Parameters</source>
        <translation>Parâmetros</translation>
    </message>
    <message>
        <source>Tokens trained</source>
        <translation>Tokens treinados</translation>
    </message>
    <message>
        <source>Round</source>
        <translation>Rodada</translation>
    </message>
    <message>
        <source>Volunteers</source>
        <translation>Voluntários</translation>
    </message>
    <message>
        <source>{count} parameters</source>
        <translation>{count} parâmetros</translation>
    </message>
    <message>
        <source>{count} parameters; {trained} of them are adapters, and trained</source>
        <translation>{count} parâmetros; {trained} deles são adaptadores, e são treinados</translation>
    </message>
</context>
<context>
    <name>RunNeeds</name>
    <message>
        <source>Learns from: {source}</source>
        <translation>Aprende com: {source}</translation>
    </message>
    <message>
        <source>Licence of the model: {licence}</source>
        <translation>Licença do modelo: {licence}</translation>
    </message>
    <message>
        <source>Opened by: {keys}</source>
        <translation>Aberto por: {keys}</translation>
    </message>
    <message>
        <source>From the organisers: {text}</source>
        <translation>Dos organizadores: {text}</translation>
    </message>
    <message>
        <source>Paused: {text}</source>
        <translation>Pausado: {text}</translation>
    </message>
    <message>
        <source>Graphics memory</source>
        <translation>Memória de vídeo</translation>
    </message>
    <message>
        <source>No limit set</source>
        <translation>Sem limite definido</translation>
    </message>
    <message>
        <source>Not known here</source>
        <translation>Desconhecido aqui</translation>
    </message>
    <message>
        <source>of {most} on {device}</source>
        <translation>de {most} em {device}</translation>
    </message>
    <message>
        <source>Fits</source>
        <translation>Serve</translation>
    </message>
    <message>
        <source>Just fits</source>
        <translation>Serve no limite</translation>
    </message>
    <message>
        <source>Does not fit</source>
        <translation>Não serve</translation>
    </message>
    <message>
        <source>Not known yet</source>
        <translation>Ainda desconhecido</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Memória</translation>
    </message>
    <message>
        <source>of {most} free</source>
        <translation>de {most} que estão livres</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>Disco</translation>
    </message>
    <message>
        <source>of {most} your limits allow</source>
        <translation>de {most} que seus limites deixam</translation>
    </message>
    <message>
        <source>First download</source>
        <translation>Primeiro download</translation>
    </message>
    <message>
        <source>of {most} left this month</source>
        <translation>de {most} que restam neste mês</translation>
    </message>
    <message>
        <source>Upload per hour</source>
        <translation>Upload por hora</translation>
    </message>
    <message>
        <source>of {most} your limit allows</source>
        <translation>de {most} pelo seu limite</translation>
    </message>
    <message>
        <source>Download per hour</source>
        <translation>Download por hora</translation>
    </message>
</context>
<context>
    <name>RunNewsCard</name>
    <message>
        <source>Choose the next run</source>
        <translation>Escolher o próximo treinamento</translation>
    </message>
    <message>
        <source>Chat with the model</source>
        <translation>Conversar com o modelo</translation>
    </message>
    <message>
        <source>See the run's page</source>
        <translation>Ver a página do treinamento</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>Dispensar</translation>
    </message>
    <message>
        <source>No other open run fits this computer now. Tequio keeps looking.</source>
        <translation>Nenhum outro treinamento aberto serve para este computador agora. O Tequio continua procurando.</translation>
    </message>
    <message>
        <source>Open runs that fit this computer: {names}.</source>
        <translation>Treinamentos abertos que servem para este computador: {names}.</translation>
    </message>
</context>
<context>
    <name>RunNewsTexts</name>
    <message>
        <source>{run} went back to round {round}</source>
        <translation>{run} voltou à rodada {round}</translation>
    </message>
    <message>
        <source>{run} is complete</source>
        <translation>{run} está concluído</translation>
    </message>
    <message>
        <source>{run} has ended</source>
        <translation>{run} terminou</translation>
    </message>
    <message>
        <source>In this network you are #{rank} of {ranked}.</source>
        <translation>Nesta rede, você está em {rank}º lugar de {ranked}.</translation>
    </message>
    <message>
        <source>Its organisers gave up the rounds after that one, and training goes on from there. Your points stay yours.</source>
        <translation>Os organizadores descartaram as rodadas posteriores, e o treinamento continua a partir dali. Seus pontos continuam seus.</translation>
    </message>
    <message>
        <source>It reached its last round, {round}.</source>
        <translation>Chegou à sua última rodada, a {round}.</translation>
    </message>
    <message>
        <source>It ended after {round} of {rounds} rounds.</source>
        <translation>Terminou após {round} de {rounds} rodadas.</translation>
    </message>
    <message>
        <source>It ended after round {round}.</source>
        <translation>Terminou após a rodada {round}.</translation>
    </message>
    <message>
        <source>Its model went from {first} to {last} bits per byte of unseen text, or from perplexity {before} to {after} per byte.</source>
        <translation>Seu modelo passou de {first} para {last} bits por byte em textos nunca vistos, ou de perplexidade {before} para {after} por byte.</translation>
    </message>
    <message>
        <source>You earned {points} points in it.</source>
        <translation>Você ganhou {points} pontos nele.</translation>
    </message>
    <message numerus="yes">
        <source>You earned {points} points in %Ln accepted round(s).</source>
        <translation>
            <numerusform>Você ganhou {points} pontos em %Ln rodada aceita.</numerusform>
            <numerusform>Você ganhou {points} pontos em %Ln rodadas aceitas.</numerusform>
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
        <translation>O que você quer treinar?</translation>
    </message>
    <message>
        <source>A run is one model that many train together. You can switch at any time.</source>
        <translation>Um treinamento é um modelo que muitos treinam juntos. Você pode mudar a qualquer momento.</translation>
    </message>
    <message>
        <source>The network is not answering, so its runs cannot be listed. You can go on: Tequio keeps trying, and joins the run that fits this computer best.</source>
        <translation>A rede não responde, então não dá para listar os treinamentos dela. Você pode seguir: o Tequio continua tentando e entra no treinamento mais adequado a este computador.</translation>
    </message>
    <message>
        <source>Recommended</source>
        <translation>Recomendado</translation>
    </message>
    <message>
        <source>The open run that fits this computer and needs it most.</source>
        <translation>O treinamento aberto que serve para este computador e mais precisa dele.</translation>
    </message>
    <message>
        <source>Choose for me</source>
        <translation>Escolher por mim</translation>
    </message>
    <message>
        <source>Full</source>
        <translation>Lotado</translation>
    </message>
    <message numerus="yes">
        <source>%Ln volunteer(s)</source>
        <translation>
            <numerusform>%Ln voluntário</numerusform>
            <numerusform>%Ln voluntários</numerusform>
        </translation>
    </message>
    <message>
        <source>{memory} of memory</source>
        <translation>{memory} de memória</translation>
    </message>
    <message>
        <source>{data} to download once</source>
        <translation>{data} a baixar uma vez</translation>
    </message>
    <message>
        <source>{data} up per hour</source>
        <translation>{data} enviados por hora</translation>
    </message>
    <message>
        <source>round {number} of {rounds}</source>
        <translation>rodada {number} de {rounds}</translation>
    </message>
</context>
<context>
    <name>RunWriting</name>
    <message>
        <source>What the model writes</source>
        <translation>O que o modelo escreve</translation>
    </message>
    <message>
        <source>Held-out text</source>
        <translation>Texto reservado</translation>
    </message>
    <message>
        <source>The model continues</source>
        <translation>O modelo continua</translation>
    </message>
    <message>
        <source>After round {number}. Generated by the model; not anyone's opinion.</source>
        <translation>Depois da rodada {number}. Gerado pelo modelo; não é a opinião de ninguém.</translation>
    </message>
    <message>
        <source>Nothing: to the model the text ends there.</source>
        <translation>Nada: para o modelo, o texto acaba ali.</translation>
    </message>
</context>
<context>
    <name>RunsPage</name>
    <message>
        <source>Runs</source>
        <translation>Treinamentos</translation>
    </message>
    <message>
        <source>Each run trains one model, round by round.</source>
        <translation>Cada treinamento treina um modelo, rodada a rodada.</translation>
    </message>
    <message>
        <source>Runs to choose from</source>
        <translation>Treinamentos para escolher</translation>
    </message>
    <message>
        <source>Join a network…</source>
        <translation>Entrar em uma rede…</translation>
    </message>
    <message>
        <source>Each run trains one model, round by round. Updated {ago}.</source>
        <translation>Cada treinamento treina um modelo, rodada a rodada. Lista lida {ago}.</translation>
    </message>
    <message>
        <source>The run that you chose is open, but its rules could not be read, so it is not in this list. Tequio keeps trying.</source>
        <translation>O treinamento que você escolheu está aberto, mas as regras dele não puderam ser lidas, por isso ele não está nesta lista. O Tequio vai continuar tentando.</translation>
    </message>
    <message>
        <source>The run that you chose is no longer open, so Tequio chooses for you.</source>
        <translation>O treinamento que você escolheu não está mais aberto, então o Tequio escolhe por você.</translation>
    </message>
    <message>
        <source>No run is open now. Tequio keeps looking and joins when one opens: there is nothing to do.</source>
        <translation>Nenhum treinamento está aberto agora. O Tequio continua procurando e entra quando um abrir: não há nada a fazer.</translation>
    </message>
    <message>
        <source>No network yet</source>
        <translation>Nenhuma rede ainda</translation>
    </message>
    <message>
        <source>Runs belong to a network. Choose one with Join a network.</source>
        <translation>Treinamentos pertencem a uma rede. Escolha uma com “Entrar em uma rede”.</translation>
    </message>
    <message>
        <source>The rules of the open runs could not be read. Tequio keeps trying.</source>
        <translation>As regras dos treinamentos abertos não puderam ser lidas. O Tequio vai continuar tentando.</translation>
    </message>
    <message>
        <source>Couldn't load the runs</source>
        <translation>Não foi possível carregar os treinamentos</translation>
    </message>
    <message>
        <source>No run yet</source>
        <translation>Nenhum treinamento ainda</translation>
    </message>
    <message>
        <source>{problem}. Tequio will keep trying.</source>
        <translation>{problem}. O Tequio vai continuar tentando.</translation>
    </message>
    <message>
        <source>Asking the network which runs there are.</source>
        <translation>Perguntando à rede quais treinamentos existem.</translation>
    </message>
    <message>
        <source>Looking for runs</source>
        <translation>Procurando treinamentos</translation>
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
        <translation>Perplexidade</translation>
    </message>
    <message>
        <source>{name}: after round {number}</source>
        <translation>{name}: depois da rodada {number}</translation>
    </message>
    <message>
        <source>Nothing: to the model the text ends there.</source>
        <translation>Nada: para o modelo, o texto acaba ali.</translation>
    </message>
    <message>
        <source>Nobody reported what this round's model writes.</source>
        <translation>Ninguém informou o que o modelo desta rodada escreve.</translation>
    </message>
    <message>
        <source>{task}: {percent} of answers right ({chance} by guessing)</source>
        <translation>{task}: {percent} de respostas certas ({chance} ao acaso)</translation>
    </message>
    <message>
        <source>Worse than after round {number}</source>
        <translation>Pior do que depois da rodada {number}</translation>
    </message>
    <message>
        <source>Measured, not worse</source>
        <translation>Medido, tudo certo</translation>
    </message>
    <message>
        <source>Too few members agree on these figures so far</source>
        <translation>Até agora, poucos membros concordam com estes números</translation>
    </message>
</context>
<context>
    <name>SamplesCard</name>
    <message>
        <source>What the model writes</source>
        <translation>O que o modelo escreve</translation>
    </message>
    <message>
        <source>Earlier round</source>
        <translation>Rodada anterior</translation>
    </message>
    <message>
        <source>Beginning of a text that the model has never seen</source>
        <translation>Começo de um texto que o modelo nunca viu</translation>
    </message>
    <message>
        <source>Earlier</source>
        <translation>Antes</translation>
    </message>
    <message>
        <source>Newest</source>
        <translation>Mais recente</translation>
    </message>
    <message>
        <source>Each measure continues another text, so these two differ.</source>
        <translation>Cada medição continua outro texto, por isso estes dois são diferentes.</translation>
    </message>
    <message>
        <source>Bits per byte: how much of an unseen text the model cannot guess. Perplexity: roughly how many words it is choosing between. Lower is better for both. The texts are generated by the model; they are not anyone's opinion.</source>
        <translation>Bits por byte: quanto de um texto nunca visto o modelo não consegue adivinhar. Perplexidade: entre quantas palavras ele hesita, por assim dizer. Nos dois casos, quanto menos, melhor. Os textos são gerados pelo modelo; não são a opinião de ninguém.</translation>
    </message>
    <message>
        <source>The newest model, after round {number}, has not been measured yet. The chat uses it.</source>
        <translation>O modelo mais recente, depois da rodada {number}, ainda não foi medido. O chat o usa.</translation>
    </message>
    <message>
        <source>Round {number}</source>
        <translation>Rodada {number}</translation>
    </message>
</context>
<context>
    <name>ScheduleStep</name>
    <message>
        <source>When may Tequio use this computer?</source>
        <translation>Quando o Tequio pode usar este computador?</translation>
    </message>
    <message>
        <source>Unless you change this in Settings, it stops for games, on battery and on metered networks, and aims for at most 80 °C where the device reports its temperature.</source>
        <translation>A menos que você mude isso nas configurações, ele para com jogos, na bateria e em conexões limitadas, e busca não passar de 80 °C se o dispositivo informar a temperatura.</translation>
    </message>
    <message>
        <source>When to lend</source>
        <translation>Quando emprestar</translation>
    </message>
    <message>
        <source>Gentle</source>
        <translation>Suave</translation>
    </message>
    <message>
        <source>After 15 minutes without input. Films pause it too.</source>
        <translation>Após 15 minutos sem atividade. Filmes também o pausam.</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>Equilibrado</translation>
    </message>
    <message>
        <source>After 5 minutes without input. This suits most people.</source>
        <translation>Após 5 minutos sem atividade. Serve para a maioria das pessoas.</translation>
    </message>
    <message>
        <source>Max</source>
        <translation>Máximo</translation>
    </message>
    <message>
        <source>After 1 minute, and at 30% of the time while you use it.</source>
        <translation>Após 1 minuto, e a 30% do tempo enquanto você o usa.</translation>
    </message>
    <message>
        <source>Start when I log in</source>
        <translation>Iniciar quando eu entrar na sessão</translation>
    </message>
    <message>
        <source>Starts minimised to the tray. Otherwise you have to start Tequio yourself.</source>
        <translation>Inicia minimizado na bandeja. Senão, você mesmo precisa abrir o Tequio.</translation>
    </message>
</context>
<context>
    <name>SettingsPage</name>
    <message>
        <source>Sections</source>
        <translation>Seções</translation>
    </message>
    <message>
        <source>Search settings</source>
        <translation>Pesquisar nas configurações</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Pesquisar</translation>
    </message>
    <message>
        <source>No results</source>
        <translation>Sem resultados</translation>
    </message>
    <message>
        <source>No setting mentions these words.</source>
        <translation>Nenhuma configuração tem estas palavras no título ou na descrição.</translation>
    </message>
</context>
<context>
    <name>SetupButton</name>
    <message>
        <source>Open setup</source>
        <translation>Abrir configuração</translation>
    </message>
</context>
<context>
    <name>ShareDialog</name>
    <message>
        <source>Share</source>
        <translation>Compartilhar</translation>
    </message>
    <message>
        <source>Everyone can see this page. Chats and social networks show its picture beside the link.</source>
        <translation>Qualquer pessoa pode ver esta página. Chats e redes sociais mostram a imagem dela ao lado do link.</translation>
    </message>
    <message>
        <source>Save the picture…</source>
        <translation>Salvar a imagem…</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Fechar</translation>
    </message>
    <message>
        <source>Your points</source>
        <translation>Seus pontos</translation>
    </message>
    <message>
        <source>Your team</source>
        <translation>Sua equipe</translation>
    </message>
    <message>
        <source>Your run</source>
        <translation>Seu treinamento</translation>
    </message>
    <message>
        <source>Page</source>
        <translation>Página</translation>
    </message>
    <message>
        <source>Link</source>
        <translation>Link</translation>
    </message>
    <message>
        <source>Open the page</source>
        <translation>Abrir a página</translation>
    </message>
    <message>
        <source>Save the picture</source>
        <translation>Salvar a imagem</translation>
    </message>
    <message>
        <source>PNG picture (*.png)</source>
        <translation>Imagem PNG (*.png)</translation>
    </message>
    <message>
        <source>The picture is in {file}.</source>
        <translation>A imagem está em {file}.</translation>
    </message>
</context>
<context>
    <name>SideBar</name>
    <message>
        <source>Join a network…</source>
        <translation>Entrar em uma rede…</translation>
    </message>
</context>
<context>
    <name>SideRow</name>
    <message>
        <source>Submitted</source>
        <translation>Enviado</translation>
    </message>
    <message>
        <source>You earned {points} points for it</source>
        <translation>Você ganhou {points} pontos por isso</translation>
    </message>
    <message>
        <source>Yours</source>
        <translation>Seu</translation>
    </message>
    <message>
        <source>Chosen</source>
        <translation>Escolhido</translation>
    </message>
    <message>
        <source>Round {number} of {rounds}</source>
        <translation>Rodada {number} de {rounds}</translation>
    </message>
    <message numerus="yes">
        <source>%Ln volunteer(s)</source>
        <translation>
            <numerusform>%Ln voluntário</numerusform>
            <numerusform>%Ln voluntários</numerusform>
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
        <translation>perda por rodada</translation>
    </message>
    <message>
        <source>Training loss of each entrant by round</source>
        <translation>Perda de treinamento de cada participante por rodada</translation>
    </message>
    <message>
        <source>As the trainers report it. The winner is decided on texts that nobody has seen.</source>
        <translation>Como os treinadores a informam. O vencedor é decidido em textos que ninguém viu.</translation>
    </message>
    <message>
        <source>Entrants to choose from</source>
        <translation>Participantes para escolher</translation>
    </message>
    <message>
        <source>Nobody has entered yet.</source>
        <translation>Nenhum participante se inscreveu ainda.</translation>
    </message>
    <message>
        <source>Models that were trained elsewhere: {names}</source>
        <translation>Modelos treinados em outro lugar: {names}</translation>
    </message>
    <message>
        <source>{name}: {loss} in round {number}</source>
        <translation>{name}: {loss} na rodada {number}</translation>
    </message>
    <message>
        <source>No round has been closed yet. The curves begin with the first.</source>
        <translation>Nenhuma rodada foi fechada ainda. As curvas começam com a primeira.</translation>
    </message>
    <message>
        <source>Couldn't load the curves: {problem}.</source>
        <translation>Não foi possível carregar as curvas: {problem}.</translation>
    </message>
    <message>
        <source>Asking the network how the entrants are doing.</source>
        <translation>Perguntando ao registro como vão os participantes.</translation>
    </message>
</context>
<context>
    <name>SnoozeMenu</name>
    <message>
        <source>Snooze</source>
        <translation>Pausa temporária</translation>
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
        <translation>Até amanhã</translation>
    </message>
    <message>
        <source>Until I close {game}</source>
        <translation>Até eu fechar {game}</translation>
    </message>
    <message>
        <source>Until I close this game</source>
        <translation>Até eu fechar este jogo</translation>
    </message>
</context>
<context>
    <name>StandingChip</name>
    <message>
        <source>Not known yet</source>
        <translation>Ainda desconhecida</translation>
    </message>
    <message>
        <source>Shown once this computer has joined the network.</source>
        <translation>Aparece quando este computador tiver entrado na rede.</translation>
    </message>
    <message>
        <source>Ended</source>
        <translation>Encerrada</translation>
    </message>
    <message>
        <source>Log entry {entry} ended this key: it can do nothing more.</source>
        <translation>A entrada {entry} do log encerrou esta chave: ela não pode fazer mais nada.</translation>
    </message>
    <message>
        <source>Excluded</source>
        <translation>Excluída</translation>
    </message>
    <message>
        <source>No round accepts your key now ({why}). Activity explains what you can do.</source>
        <translation>Nenhuma rodada aceita sua chave agora ({why}). Atividade explica o que você pode fazer.</translation>
    </message>
    <message>
        <source>New</source>
        <translation>Nova</translation>
    </message>
    <message>
        <source>Ten accepted contributions make your key a full member.</source>
        <translation>Dez contribuições aceitas fazem da sua chave um membro pleno.</translation>
    </message>
    <message>
        <source>Good</source>
        <translation>Boa</translation>
    </message>
    <message>
        <source>Changed</source>
        <translation>Mudou</translation>
    </message>
    <message>
        <source>Activity explains what has happened.</source>
        <translation>Atividade explica o que aconteceu.</translation>
    </message>
</context>
<context>
    <name>StatCard</name>
    <message>
        <source>{points} points</source>
        <translation>{points} pontos</translation>
    </message>
</context>
<context>
    <name>Stats</name>
    <message>
        <source>Points today</source>
        <translation>Pontos hoje</translation>
    </message>
    <message>
        <source>Total points</source>
        <translation>Total de pontos</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>Posição</translation>
    </message>
    <message>
        <source>Energy today</source>
        <translation>Energia hoje</translation>
    </message>
    <message numerus="yes">
        <source>%n round(s) pending</source>
        <translation>
            <numerusform>%n rodada pendente</numerusform>
            <numerusform>%n rodadas pendentes</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing pending</source>
        <translation>Nada pendente</translation>
    </message>
    <message>
        <source>About {points} a day</source>
        <translation>Cerca de {points} por dia</translation>
    </message>
    <message>
        <source>{points} still to be checked</source>
        <translation>{points} ainda a verificar</translation>
    </message>
    <message>
        <source>Every proof checked here</source>
        <translation>Todas as provas conferidas</translation>
    </message>
    <message>
        <source>None yet</source>
        <translation>Nenhuma ainda</translation>
    </message>
    <message numerus="yes">
        <source>of %Ln volunteer(s)</source>
        <translation>
            <numerusform>de %Ln voluntário</numerusform>
            <numerusform>de %Ln voluntários</numerusform>
        </translation>
    </message>
    <message>
        <source>After your first verified round</source>
        <translation>Após uma rodada verificada</translation>
    </message>
    <message>
        <source>Not measured here</source>
        <translation>Não medida aqui</translation>
    </message>
    <message>
        <source>{energy} in total</source>
        <translation>{energy} ao todo</translation>
    </message>
    <message>
        <source>Estimated, {total}</source>
        <translation>Estimada, {total}</translation>
    </message>
</context>
<context>
    <name>TeamControl</name>
    <message>
        <source>Join or found…</source>
        <translation>Entrar ou criar…</translation>
    </message>
    <message>
        <source>Team {number}</source>
        <translation>Equipe {number}</translation>
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
        <translation>Ver a equipe</translation>
    </message>
    <message>
        <source>Found the team</source>
        <translation>Criar a equipe</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Fechar</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Cancelar</translation>
    </message>
    <message>
        <source>Team</source>
        <translation>Equipe</translation>
    </message>
    <message>
        <source>What you earn in a team also counts for the team. What you earned for it stays with it when you leave.</source>
        <translation>O que você ganha em uma equipe conta também para a equipe. O que você ganhou para ela fica com ela quando você sai.</translation>
    </message>
    <message>
        <source>Join the team “{team}”?</source>
        <translation>Entrar na equipe “{team}”?</translation>
    </message>
    <message>
        <source>Its owner, {owner}, invites everyone who has this link.</source>
        <translation>A pessoa responsável, {owner}, convida todos que têm este link.</translation>
    </message>
    <message>
        <source>Join the team</source>
        <translation>Entrar na equipe</translation>
    </message>
    <message numerus="yes">
        <source>%n member(s)</source>
        <translation>
            <numerusform>%n membro</numerusform>
            <numerusform>%n membros</numerusform>
        </translation>
    </message>
    <message>
        <source>{points} points so far</source>
        <translation>{points} pontos até agora</translation>
    </message>
    <message>
        <source>Everyone can see that you are in the team, and what you earn for it.</source>
        <translation>Todos podem ver que você está na equipe e o que ganha para ela.</translation>
    </message>
    <message>
        <source>Your points stay yours. They also count for the team, from now on.</source>
        <translation>Seus pontos continuam seus. A partir de agora, contam também para a equipe.</translation>
    </message>
    <message>
        <source>The owner can remove you; you can leave at any time.</source>
        <translation>A pessoa responsável pode remover você; você pode sair quando quiser.</translation>
    </message>
    <message>
        <source>You are in another team. Leave it before you join this one.</source>
        <translation>Você está em outra equipe. Saia dela antes de entrar nesta.</translation>
    </message>
    <message>
        <source>You own this team.</source>
        <translation>Você é responsável por esta equipe.</translation>
    </message>
    <message>
        <source>Its owner is {owner}.</source>
        <translation>A pessoa responsável é {owner}.</translation>
    </message>
    <message>
        <source>{points} points</source>
        <translation>{points} pontos</translation>
    </message>
    <message>
        <source>What you earned for the team stays with it.</source>
        <translation>O que você ganhou para a equipe fica com ela.</translation>
    </message>
    <message>
        <source>The member that joined first becomes its owner.</source>
        <translation>O membro mais antigo passa a ser responsável por ela.</translation>
    </message>
    <message>
        <source>You are its last member: the team ends for good.</source>
        <translation>Você é o último membro: a equipe termina para sempre.</translation>
    </message>
    <message>
        <source>Leave the team?</source>
        <translation>Sair da equipe?</translation>
    </message>
    <message>
        <source>Leave the team</source>
        <translation>Sair da equipe</translation>
    </message>
    <message>
        <source>Hand the team over to {name}?</source>
        <translation>Transferir a equipe para {name}?</translation>
    </message>
    <message>
        <source>You stay a member, and cannot take the team back.</source>
        <translation>Você continua membro e não pode retomar a equipe.</translation>
    </message>
    <message>
        <source>Hand over</source>
        <translation>Transferir</translation>
    </message>
    <message>
        <source>Remove {name} from the team?</source>
        <translation>Remover {name} da equipe?</translation>
    </message>
    <message>
        <source>The join link stops working, as {name} has it. Points stay.</source>
        <translation>O link de entrada deixa de funcionar, pois {name} o tem. Os pontos ficam.</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Remover</translation>
    </message>
    <message>
        <source>Team {number}</source>
        <translation>Equipe {number}</translation>
    </message>
</context>
<context>
    <name>TimelineCard</name>
    <message>
        <source>Events to show</source>
        <translation>Eventos a mostrar</translation>
    </message>
    <message>
        <source>All</source>
        <translation>Tudo</translation>
    </message>
    <message>
        <source>Rounds</source>
        <translation>Rodadas</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>Atenção</translation>
    </message>
    <message>
        <source>Search in events</source>
        <translation>Pesquisar nos eventos</translation>
    </message>
    <message>
        <source>Events</source>
        <translation>Eventos</translation>
    </message>
    <message>
        <source>Looking</source>
        <translation>Carregando</translation>
    </message>
    <message>
        <source>Reading recent events.</source>
        <translation>Lendo o que aconteceu recentemente.</translation>
    </message>
    <message>
        <source>Couldn't load the events</source>
        <translation>Não foi possível carregar os eventos</translation>
    </message>
    <message>
        <source>Older events are being read.</source>
        <translation>Lendo eventos mais antigos.</translation>
    </message>
    <message>
        <source>No matches</source>
        <translation>Nenhum destes</translation>
    </message>
    <message>
        <source>No event fits the filter and the search.</source>
        <translation>Nenhum evento combina com o filtro e a pesquisa.</translation>
    </message>
    <message>
        <source>Nothing happened yet</source>
        <translation>Nada aconteceu ainda</translation>
    </message>
    <message>
        <source>What this computer does for the swarm will be listed here.</source>
        <translation>O que este computador fizer pelo enxame vai aparecer aqui em frases.</translation>
    </message>
</context>
<context>
    <name>Tray</name>
    <message>
        <source>Join a network…</source>
        <translation>Entrar em uma rede…</translation>
    </message>
    <message>
        <source>Open Tequio</source>
        <translation>Abrir o Tequio</translation>
    </message>
    <message>
        <source>Quit – stops lending</source>
        <translation>Sair – para de emprestar</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>Sair</translation>
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
        <translation>Continuar agora</translation>
    </message>
    <message>
        <source>Go on after this round</source>
        <translation>Continuar após esta rodada</translation>
    </message>
    <message>
        <source>Finish round, then stop</source>
        <translation>Terminar a rodada e parar</translation>
    </message>
</context>
<context>
    <name>UndoToast</name>
    <message>
        <source>Undo</source>
        <translation>Desfazer</translation>
    </message>
</context>
<context>
    <name>UnlockDialog</name>
    <message>
        <source>Your key is sealed</source>
        <translation>Sua chave está protegida</translation>
    </message>
    <message>
        <source>Nothing is lent before you give its passphrase. It is kept until you quit.</source>
        <translation>Nada é emprestado antes de você informar a frase secreta. Ela é lembrada até você sair.</translation>
    </message>
    <message>
        <source>Unlock</source>
        <translation>Desbloquear</translation>
    </message>
    <message>
        <source>Passphrase</source>
        <translation>Frase secreta</translation>
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
        <translation>Tráfego</translation>
    </message>
    <message>
        <source>Downloaded and uploaded this month, of your monthly limit</source>
        <translation>Baixado e enviado neste mês, do seu limite mensal</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>Disco</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Memória</translation>
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
        <translation>Enquanto você usa o computador, o dispositivo fica ocupado {share} do tempo. Ele faz mais barulho e gasta mais energia, e vídeos ou a rolagem podem engasgar. As regras para jogos e filmes continuam valendo.</translation>
    </message>
</context>
<context>
    <name>UsedSwitch</name>
    <message>
        <source>Lend while I use the computer</source>
        <translation>Emprestar enquanto eu uso o computador</translation>
    </message>
</context>
<context>
    <name>WeekEditor</name>
    <message>
        <source>Hours in which to lend</source>
        <translation>Horas para emprestar</translation>
    </message>
    <message>
        <source>Hours</source>
        <translation>Horas</translation>
    </message>
    <message>
        <source>Always</source>
        <translation>Sempre</translation>
    </message>
    <message>
        <source>Nights</source>
        <translation>Noites</translation>
    </message>
    <message>
        <source>Outside office hours</source>
        <translation>Fora do expediente</translation>
    </message>
    <message>
        <source>Custom</source>
        <translation>Personalizado</translation>
    </message>
    <message>
        <source>No hour is selected, so nothing is ever lent.</source>
        <translation>Nenhuma hora está selecionada, então nada é emprestado.</translation>
    </message>
    <message>
        <source>Hours changed.</source>
        <translation>Horas mudadas.</translation>
    </message>
</context>
<context>
    <name>WeekGrid</name>
    <message>
        <source>may lend</source>
        <translation>pode emprestar</translation>
    </message>
    <message>
        <source>does not lend</source>
        <translation>não empresta</translation>
    </message>
</context>
<context>
    <name>WelcomeStep</name>
    <message>
        <source>Lend your idle computer to open models</source>
        <translation>Empreste seu computador ocioso a modelos abertos</translation>
    </message>
    <message>
        <source>Tequio trains open language models on the computers of volunteers, while nobody needs them. Nothing is lent before you agree to it at the end.</source>
        <translation>O Tequio treina modelos de linguagem abertos nos computadores de voluntários, enquanto ninguém precisa deles. Nada é emprestado antes de você concordar, no final.</translation>
    </message>
    <message>
        <source>Stops when you play</source>
        <translation>Para quando você joga</translation>
    </message>
    <message>
        <source>Starting a game or going full screen stops it within seconds and frees all GPU memory.</source>
        <translation>Abrir um jogo ou entrar em tela cheia o para em segundos e libera toda a memória da GPU.</translation>
    </message>
    <message>
        <source>Points you can check</source>
        <translation>Pontos que dá para conferir</translation>
    </message>
    <message>
        <source>Each round gives compute points. Your computer checks every proof.</source>
        <translation>Cada rodada dá pontos de computação. Seu computador confere cada prova.</translation>
    </message>
    <message>
        <source>Keeps to itself</source>
        <translation>Respeita o que é seu</translation>
    </message>
    <message>
        <source>It reads none of your files. Settings lists all that it sends.</source>
        <translation>Ele não lê nenhum dos seus arquivos. As configurações listam tudo o que ele envia.</translation>
    </message>
</context>
<context>
    <name>WordsGrid</name>
    <message>
        <source>The 24 words</source>
        <translation>As 24 palavras</translation>
    </message>
    <message>
        <source>24 words, hidden</source>
        <translation>24 palavras, ocultas</translation>
    </message>
</context>
<context>
    <name>WorkerLogCard</name>
    <message>
        <source>Log of the worker</source>
        <translation>Log do serviço em segundo plano</translation>
    </message>
    <message>
        <source>For troubleshooting. Copying adds what the app sees, but no key and no password.</source>
        <translation>Para encontrar falhas. Ao copiar, junta-se o que o aplicativo vê; nenhuma chave, nenhuma senha.</translation>
    </message>
    <message>
        <source>Last lines of the log</source>
        <translation>Últimas linhas do log</translation>
    </message>
    <message>
        <source>The worker has not logged anything yet.</source>
        <translation>O serviço em segundo plano ainda não disse nada.</translation>
    </message>
    <message>
        <source>Copy diagnostics</source>
        <translation>Copiar diagnóstico</translation>
    </message>
    <message>
        <source>Diagnostics copied: paste them into your report</source>
        <translation>Diagnóstico copiado: cole-o no seu relato</translation>
    </message>
</context>
<context>
    <name>WorkerProcess</name>
    <message>
        <source>The worker is not running.</source>
        <translation>O serviço em segundo plano não está rodando.</translation>
    </message>
    <message>
        <source>The worker has ended.</source>
        <translation>O serviço em segundo plano foi encerrado.</translation>
    </message>
    <message>
        <source>The worker failed {tries} times in a row, the last time so: {why}</source>
        <translation>O serviço em segundo plano falhou {tries} vezes seguidas, a última assim: {why}</translation>
    </message>
    <message>
        <source>{why} It is started again.</source>
        <translation>{why} Ele está sendo reiniciado.</translation>
    </message>
</context>
<context>
    <name>checks</name>
    <message>
        <source>Graphics card</source>
        <translation>Placa de vídeo</translation>
    </message>
    <message>
        <source>Driver</source>
        <translation>Driver</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>Disco</translation>
    </message>
    <message>
        <source>Network</source>
        <translation>Rede</translation>
    </message>
    <message>
        <source>Looking…</source>
        <translation>Verificando…</translation>
    </message>
    <message>
        <source>Its probe has not answered. Tequio keeps asking; you can go on.</source>
        <translation>A sonda não respondeu. O Tequio continua perguntando; você pode seguir.</translation>
    </message>
    <message>
        <source>None that can train was found. {processor} with {cores} cores can help too.</source>
        <translation>Nenhuma capaz de treinar foi encontrada. {processor} com {cores} núcleos também pode ajudar.</translation>
    </message>
    <message>
        <source>{card} does not say how much memory it has.</source>
        <translation>{card} não informa quanta memória tem.</translation>
    </message>
    <message>
        <source>{card} has {memory}: too little to train most models.</source>
        <translation>{card} tem {memory}: pouco para treinar a maioria dos modelos.</translation>
    </message>
    <message>
        <source>{card} with {memory}, of which at most {usable} are used.</source>
        <translation>{card} com {memory}, dos quais no máximo {usable} são usados.</translation>
    </message>
    <message>
        <source>Its probe has not answered yet.</source>
        <translation>A sonda ainda não respondeu.</translation>
    </message>
    <message>
        <source>None is needed for the processor.</source>
        <translation>O processador não precisa de um.</translation>
    </message>
    <message>
        <source>It does not say its version. The first start will show it.</source>
        <translation>Ele não informa a versão. O primeiro início vai mostrar.</translation>
    </message>
    <message>
        <source>Version {driver} is too old to train: install {oldest} or newer, then restart.</source>
        <translation>A versão {driver} é antiga demais para treinar: instale a {oldest} ou mais nova e reinicie.</translation>
    </message>
    <message>
        <source>Version {driver} can train.</source>
        <translation>A versão {driver} consegue treinar.</translation>
    </message>
    <message>
        <source>It is not known how much is free.</source>
        <translation>Não dá para saber quanto está livre.</translation>
    </message>
    <message>
        <source>{free} GB are free. Tequio takes {store} GB at most, and {stays} stay free.</source>
        <translation>{free} GB estão livres. O Tequio usa no máximo {store} GB, e {stays} continuam livres.</translation>
    </message>
    <message>
        <source>{free} GB are free. {stays} stay free, so Tequio has {store} GB: some runs fit.</source>
        <translation>{free} GB estão livres. {stays} continuam livres, então o Tequio tem {store} GB: alguns treinamentos cabem.</translation>
    </message>
    <message>
        <source>Only {free} GB are free and {wanted} are needed, of which {stays} stay free: make room before lending.</source>
        <translation>Só {free} GB estão livres e são necessários {wanted}, dos quais {stays} continuam livres: libere espaço antes de emprestar.</translation>
    </message>
    <message>
        <source>You choose the network in step 5.</source>
        <translation>Você escolhe a rede na etapa 5.</translation>
    </message>
    <message>
        <source>You join “{network}” by your invitation.</source>
        <translation>Você entra em “{network}” com seu convite.</translation>
    </message>
    <message>
        <source>The network does not answer now. You can go on: Tequio keeps trying.</source>
        <translation>A rede não responde agora. Você pode seguir: o Tequio continua tentando.</translation>
    </message>
    <message>
        <source>The network answers. No run is open now; one will be joined.</source>
        <translation>A rede responde. Nenhum treinamento está aberto agora; o Tequio entra quando um abrir.</translation>
    </message>
    <message numerus="yes">
        <source>The network answers, and %n run(s) are open.</source>
        <translation>
            <numerusform>A rede responde, e %n treinamento está aberto.</numerusform>
            <numerusform>A rede responde, e %n treinamentos estão abertos.</numerusform>
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
        <translation>Em andamento</translation>
    </message>
    <message>
        <source>Deadline over</source>
        <translation>Prazo encerrado</translation>
    </message>
    <message>
        <source>Closed</source>
        <translation>Fechada</translation>
    </message>
    <message>
        <source>Being opened</source>
        <translation>Abrindo</translation>
    </message>
    <message>
        <source>Being scored</source>
        <translation>Em avaliação</translation>
    </message>
    <message>
        <source>Being checked</source>
        <translation>Em conferência</translation>
    </message>
    <message>
        <source>Decided</source>
        <translation>Decidida</translation>
    </message>
    <message>
        <source>No ranking</source>
        <translation>Sem classificação</translation>
    </message>
    <message>
        <source>It has not begun yet. Join an entrant's run now to train from the start.</source>
        <translation>Ela ainda não começou. Entre agora no treinamento de um participante para treinar desde o início.</translation>
    </message>
    <message>
        <source>The entrants are training. The last submission of each before the deadline counts.</source>
        <translation>Os participantes treinam. O que conta é o último envio de cada um antes do fim do prazo.</translation>
    </message>
    <message>
        <source>The deadline is over. The ledger closes the competition any moment.</source>
        <translation>O prazo acabou. O registro fecha a competição a qualquer momento.</translation>
    </message>
    <message>
        <source>Nothing can be submitted any more. Every volunteer evaluator draws a lot, which nobody can choose. The lots decide who scores, and on which texts.</source>
        <translation>Nada mais pode ser enviado. Cada avaliador voluntário tira um número, que ninguém pode escolher. Os números decidem quem avalia, e em quais textos.</translation>
    </message>
    <message>
        <source>The custodians reveal their parts of the key. Any {needed} of the {custodians} parts open the texts.</source>
        <translation>Os guardiões mostram suas partes da chave: {needed} de {custodians} abrem os textos.</translation>
    </message>
    <message>
        <source>The texts are open. Evaluators, drawn by lot, score each entrant on them, and commit to their scores before anyone reveals any.</source>
        <translation>Os textos estão abertos. Avaliadores sorteados avaliam cada participante neles e se comprometem com suas notas antes que alguém mostre alguma.</translation>
    </message>
    <message>
        <source>Evaluators reveal the scores that they committed to. Until the result, anyone may score a model again and challenge a score.</source>
        <translation>Os avaliadores mostram as notas com que se comprometeram. Até o resultado, qualquer um pode avaliar de novo e contestar uma nota.</translation>
    </message>
    <message>
        <source>The result stands, and anyone can check it from the log alone.</source>
        <translation>O resultado está definido, e qualquer pessoa pode conferi-lo só com o log.</translation>
    </message>
    <message>
        <source>It ended without a ranking: too few custodians revealed their parts of the key in time, or there was nobody to score.</source>
        <translation>Terminou sem classificação: poucos guardiões mostraram suas partes da chave a tempo, ou não havia quem avaliasse.</translation>
    </message>
    <message>
        <source>It ended without a ranking: too few of those who were drawn scored the entrants in time.</source>
        <translation>Terminou sem classificação: poucos dos sorteados avaliaram os participantes a tempo.</translation>
    </message>
    <message>
        <source>until it begins</source>
        <translation>até começar</translation>
    </message>
    <message>
        <source>until the deadline</source>
        <translation>até o fim do prazo</translation>
    </message>
    <message>
        <source>until the draw</source>
        <translation>até o sorteio</translation>
    </message>
    <message>
        <source>until all must be scored</source>
        <translation>até o fim das notas</translation>
    </message>
    <message>
        <source>until the result</source>
        <translation>até o resultado</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>Início</translation>
    </message>
    <message>
        <source>Deadline</source>
        <translation>Prazo</translation>
    </message>
    <message>
        <source>Draw</source>
        <translation>Sorteio</translation>
    </message>
    <message>
        <source>Scores</source>
        <translation>Notas</translation>
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
        <translation>como uma {card} em {time}</translation>
    </message>
    <message>
        <source>about {time} on an {card}</source>
        <translation>≈ {time} de uma {card}</translation>
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
        <translation>{n} dias</translation>
    </message>
    <message>
        <source>{number}%</source>
        <translation>{number}%</translation>
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
        <translation>{day} {month}</translation>
    </message>
    <message>
        <source>tomorrow {time}</source>
        <translation>amanhã {time}</translation>
    </message>
    <message>
        <source>{weekday} {day} {month} {year}, {time}</source>
        <translation>{weekday} {day} {month} {year}, {time}</translation>
    </message>
    <message>
        <source>just now</source>
        <translation>agora mesmo</translation>
    </message>
    <message>
        <source>{time} ago</source>
        <translation>há {time}</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>Hoje</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>Ontem</translation>
    </message>
    <message>
        <source>{weekday} {day} {month}</source>
        <translation>{weekday}, {day} de {month}</translation>
    </message>
    <message>
        <source>{weekday} {day} {month} {year}</source>
        <translation>{weekday}, {day} de {month} de {year}</translation>
    </message>
    <message>
        <source>{number}T</source>
        <translation>{number} tri</translation>
    </message>
    <message>
        <source>{number}B</source>
        <translation>{number} bi</translation>
    </message>
    <message>
        <source>{number}M</source>
        <translation>{number} mi</translation>
    </message>
    <message>
        <source>{number}k</source>
        <translation>{number} mil</translation>
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
        <translation>O serviço em segundo plano está iniciando.</translation>
    </message>
    <message>
        <source>Pausing…</source>
        <translation>Pausando…</translation>
    </message>
    <message>
        <source>The device is given back at once.</source>
        <translation>O dispositivo é devolvido na hora.</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>Começando…</translation>
    </message>
    <message>
        <source>Checking whether it's OK to start…</source>
        <translation>Verificando se pode começar…</translation>
    </message>
    <message>
        <source>No connection</source>
        <translation>Sem conexão</translation>
    </message>
    <message>
        <source>Neither the network's ledger nor another computer answers. Tequio keeps trying; work that has begun goes on.</source>
        <translation>Nem o registro da rede nem outro computador responde. O Tequio continua tentando; o trabalho iniciado segue.</translation>
    </message>
</context>
<context>
    <name>health</name>
    <message>
        <source>Time without input</source>
        <translation>Tempo sem atividade</translation>
    </message>
    <message>
        <source>Screen lock</source>
        <translation>Bloqueio de tela</translation>
    </message>
    <message>
        <source>Other users</source>
        <translation>Outros usuários</translation>
    </message>
    <message>
        <source>Fullscreen programs</source>
        <translation>Programas em tela cheia</translation>
    </message>
    <message>
        <source>Game mode</source>
        <translation>Modo de jogo</translation>
    </message>
    <message>
        <source>Programs that run</source>
        <translation>Programas abertos</translation>
    </message>
    <message>
        <source>Metered network</source>
        <translation>Conexão limitada</translation>
    </message>
    <message>
        <source>Graphics cards</source>
        <translation>Placas de vídeo</translation>
    </message>
    <message>
        <source>Processor load</source>
        <translation>Carga do processador</translation>
    </message>
    <message>
        <source>Processor temperature</source>
        <translation>Temperatura do processador</translation>
    </message>
    <message>
        <source>Main memory</source>
        <translation>Memória principal</translation>
    </message>
    <message>
        <source>Battery</source>
        <translation>Bateria</translation>
    </message>
    <message>
        <source>Power saving</source>
        <translation>Economia de energia</translation>
    </message>
    <message>
        <source>Without it, lending waits until the computer is locked. Lock it when you leave, or allow lending while you use it in Settings, When to lend.</source>
        <translation>Sem isso, o empréstimo espera até o computador ser bloqueado. Bloqueie-o ao sair, ou permita emprestar enquanto você o usa em Configurações, Quando emprestar.</translation>
    </message>
    <message>
        <source>Without it, only the time without input tells that you are away.</source>
        <translation>Sem isso, só o tempo sem atividade indica que você saiu.</translation>
    </message>
    <message>
        <source>Without it, lending waits, since another user may be at the computer. Start Tequio again.</source>
        <translation>Sem isso, o empréstimo espera, pois outro usuário pode estar no computador. Abra o Tequio de novo.</translation>
    </message>
    <message>
        <source>Without it, lending waits until the computer is locked, unless you switch off pausing for games in Settings, When to lend.</source>
        <translation>Sem isso, o empréstimo espera até o computador ser bloqueado, a menos que você desligue a pausa para jogos em Configurações, Quando emprestar.</translation>
    </message>
    <message>
        <source>Games are still known by their launchers and by filling the screen. To have it, install GameMode.</source>
        <translation>Os jogos ainda são reconhecidos pelos iniciadores e por ocupar a tela. Para ter isso, instale o GameMode.</translation>
    </message>
    <message>
        <source>Without it, your exclusive programs and games cannot be seen. Empty that list and switch off pausing for games in Settings, When to lend, or start Tequio again.</source>
        <translation>Sem isso, seus programas exclusivos e jogos não podem ser vistos. Esvazie essa lista e desligue a pausa para jogos em Configurações, Quando emprestar, ou abra o Tequio de novo.</translation>
    </message>
    <message>
        <source>Without it, large transfers wait. Allow metered networks in Settings, Network, if yours costs nothing.</source>
        <translation>Sem isso, transferências grandes esperam. Permita conexões limitadas em Configurações, Rede, se a sua não custa nada.</translation>
    </message>
    <message>
        <source>If such a card is in this computer, install or update its driver, then start the computer again.</source>
        <translation>Se uma placa dessas está neste computador, instale ou atualize o driver dela e reinicie o computador.</translation>
    </message>
    <message>
        <source>Lending goes on; only the processor's temperature goal cannot be kept.</source>
        <translation>O empréstimo continua; só a meta de temperatura do processador não pode ser mantida.</translation>
    </message>
    <message>
        <source>If this computer has no battery, allow it in Settings, When to lend.</source>
        <translation>Se este computador não tem bateria, permita isso em Configurações, Quando emprestar.</translation>
    </message>
    <message>
        <source>If you never save power, allow lending while power is saved in Settings, When to lend.</source>
        <translation>Se você nunca economiza energia, permita emprestar com economia de energia em Configurações, Quando emprestar.</translation>
    </message>
    <message>
        <source>Start Tequio again. If that does not help, copy the diagnostics and report it.</source>
        <translation>Abra o Tequio de novo. Se não ajudar, copie o diagnóstico e relate o problema.</translation>
    </message>
</context>
<context>
    <name>judging</name>
    <message>
        <source>It takes {memory} of memory</source>
        <translation>Isso usa {memory} de memória</translation>
    </message>
    <message>
        <source>It takes memory, about five bytes for each parameter of a model</source>
        <translation>Isso usa memória, cerca de cinco bytes por parâmetro de um modelo</translation>
    </message>
    <message>
        <source>{takes}, and some minutes of computing for each model when the texts are open, by the same rules as training. Evaluators cannot win with an entry of their own, nor judge a run that they trained in.</source>
        <translation>{takes}, e alguns minutos de computação por modelo quando os textos são abertos, pelas mesmas regras do treinamento. Avaliadores não podem ganhar com um modelo próprio nem avaliar um treinamento de que participaram.</translation>
    </message>
    <message>
        <source>You help to judge: this computer makes its offer within a minute or two.</source>
        <translation>Você ajuda a avaliar: este computador se oferece em um ou dois minutos.</translation>
    </message>
    <message>
        <source>Volunteers, drawn by lot, decide the winner: their computers score every model on the sealed texts. Yours can be one of them.</source>
        <translation>Voluntários sorteados decidem quem vence: os computadores deles avaliam cada modelo nos textos lacrados. O seu pode ser um deles.</translation>
    </message>
    <message>
        <source>You were drawn, but judging is switched off: {done} of {models} models are scored. Switch it on, or the scores of this computer will be missing.</source>
        <translation>Você foi sorteado, mas a avaliação está desligada: {done} de {models} modelos avaliados. Ligue-a, ou os outros terão de seguir sem você.</translation>
    </message>
    <message>
        <source>You were drawn: {done} of {models} models are scored. It goes on when this computer may lend and the round under way is over.</source>
        <translation>Você foi sorteado: {done} de {models} modelos avaliados. Continua quando este computador puder ser emprestado e a rodada em andamento acabar.</translation>
    </message>
    <message>
        <source>Scoring: {done} of {models} models are done. The next one is made ready.</source>
        <translation>Avaliando: {done} de {models} modelos prontos. O próximo está sendo preparado.</translation>
    </message>
    <message>
        <source>Scoring: {done} of {models} models are done; {documents} of {texts} texts of {name}.</source>
        <translation>Avaliando: {done} de {models} modelos prontos; {documents} de {texts} textos de {name}.</translation>
    </message>
    <message>
        <source>Offered</source>
        <translation>Oferecido</translation>
    </message>
    <message>
        <source>In the draw</source>
        <translation>No sorteio</translation>
    </message>
    <message>
        <source>Not in the draw</source>
        <translation>Fora do sorteio</translation>
    </message>
    <message>
        <source>Not drawn</source>
        <translation>Não sorteado</translation>
    </message>
    <message>
        <source>Drawn</source>
        <translation>Sorteado</translation>
    </message>
    <message>
        <source>All scored</source>
        <translation>Tudo avaliado</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>Concluído</translation>
    </message>
    <message>
        <source>Not in time</source>
        <translation>Fora do prazo</translation>
    </message>
    <message>
        <source>Scoring</source>
        <translation>Avaliando</translation>
    </message>
    <message>
        <source>Not possible</source>
        <translation>Não é possível</translation>
    </message>
    <message>
        <source>On</source>
        <translation>Ligado</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>Desligado</translation>
    </message>
    <message>
        <source>Your offer is in the log. After the deadline this computer draws a lot by itself; let Tequio run then, or others are drawn.</source>
        <translation>Sua oferta está no log. Depois do prazo, este computador tira um número sozinho; deixe o Tequio aberto nessa hora, ou outros serão sorteados.</translation>
    </message>
    <message>
        <source>Your lot is drawn. When the texts are opened, the lots decide who scores.</source>
        <translation>Seu número foi tirado. Quando os textos forem abertos, os números decidem quem avalia.</translation>
    </message>
    <message>
        <source>No lot was drawn here in time, so others score. Nothing is lost.</source>
        <translation>Nenhum número foi tirado aqui a tempo, então outros avaliam. Nada se perdeu.</translation>
    </message>
    <message>
        <source>Others were drawn. Thank you for the offer.</source>
        <translation>Outros foram sorteados. Obrigado pela oferta.</translation>
    </message>
    <message>
        <source>All models are scored here, and committed to. The scores are revealed when all others have committed too, or their time is over.</source>
        <translation>Todos os modelos foram avaliados aqui, com compromisso. As notas são mostradas quando todos os outros também se comprometerem, ou o tempo deles acabar.</translation>
    </message>
    <message>
        <source>All your scores are in the log. Thank you.</source>
        <translation>Todas as suas notas estão no log. Obrigado.</translation>
    </message>
    <message>
        <source>Not all models were scored and revealed in time; the others' scores count.</source>
        <translation>Nem todos os modelos foram avaliados e mostrados a tempo; valem as notas dos outros.</translation>
    </message>
    <message>
        <source>You hold a part of the key to the texts, so others judge here.</source>
        <translation>Você guarda uma parte da chave dos textos, então outros avaliam aqui.</translation>
    </message>
    <message>
        <source>Organisers do not judge.</source>
        <translation>Organizadores não avaliam.</translation>
    </message>
    <message>
        <source>You entered {by}, so others judge here.</source>
        <translation>Você inscreveu {by}, então outros avaliam aqui.</translation>
    </message>
    <message>
        <source>You trained in a run that takes part, as {by}, so others judge here.</source>
        <translation>Você treinou em um treinamento que participa, como {by}, então outros avaliam aqui.</translation>
    </message>
    <message>
        <source>This computer cannot judge now: {by}.</source>
        <translation>Este computador não pode avaliar agora: {by}.</translation>
    </message>
    <message>
        <source>The ledger did not accept your offer: {by}.</source>
        <translation>O registro não aceitou sua oferta: {by}.</translation>
    </message>
</context>
<context>
    <name>keys</name>
    <message>
        <source>the key file {path} cannot be used: {why}</source>
        <translation>o arquivo de chave {path} não pode ser usado: {why}</translation>
    </message>
    <message>
        <source>others may read the key file {path} (mode {mode}): run chmod 600 {path}</source>
        <translation>outros podem ler o arquivo de chave {path} (modo {mode}): execute chmod 600 {path}</translation>
    </message>
    <message>
        <source>the key file {path} has {size} bytes instead of {due}: restore it from a backup, or move it away to become a new peer</source>
        <translation>o arquivo de chave {path} tem {size} bytes em vez de {due}: restaure-o de um backup ou mova-o para se tornar um novo par</translation>
    </message>
    <message>
        <source>the key file {path} is damaged: restore it from a backup</source>
        <translation>o arquivo de chave {path} está danificado: restaure-o de um backup</translation>
    </message>
    <message>
        <source>no key found in {folder}: restore one from a backup, or make a new one</source>
        <translation>nenhuma chave encontrada em {folder}: restaure uma de um backup ou crie uma nova</translation>
    </message>
    <message>
        <source>there is a key in {folder} already: restoring puts it aside, making does not</source>
        <translation>já existe uma chave em {folder}: restaurar a guarda à parte, criar não</translation>
    </message>
    <message>
        <source>the key file {path} is sealed: a passphrase is needed</source>
        <translation>o arquivo de chave {path} está protegido: é preciso uma frase secreta</translation>
    </message>
    <message>
        <source>the passphrase does not open the key file</source>
        <translation>a frase secreta não abre o arquivo de chave</translation>
    </message>
    <message>
        <source>the passphrase has fewer than {least} characters: choose a longer one</source>
        <translation>a frase secreta tem menos de {least} caracteres: escolha uma mais longa</translation>
    </message>
    <message>
        <source>this system has no keyring that could keep a secret: choose another way to store it</source>
        <translation>este sistema não tem um chaveiro que guarde um segredo: escolha outra forma de guardá-lo</translation>
    </message>
    <message>
        <source>the system's keyring is locked: unlock it and try again</source>
        <translation>o chaveiro do sistema está bloqueado: desbloqueie-o e tente de novo</translation>
    </message>
    <message>
        <source>the system's keyring fails ({why}): try again, or choose a passphrase</source>
        <translation>o chaveiro do sistema falha ({why}): tente de novo ou escolha uma frase secreta</translation>
    </message>
    <message>
        <source>the system's keyring has not answered for {seconds} s: it may be asking for its password behind another window; try again then</source>
        <translation>o chaveiro do sistema não respondeu por {seconds} s: talvez esteja pedindo a senha atrás de outra janela; depois, tente de novo</translation>
    </message>
    <message>
        <source>the system's keyring has no entry for the key file {path}: it was emptied, or is another user's; restore the key from a backup</source>
        <translation>o chaveiro do sistema não tem entrada para o arquivo de chave {path}: ele foi esvaziado ou é de outro usuário; restaure a chave de um backup</translation>
    </message>
    <message>
        <source>the backup {path} cannot be used: {why}</source>
        <translation>o backup {path} não pode ser usado: {why}</translation>
    </message>
    <message>
        <source>the file {path} is not a key backup: choose the one that is</source>
        <translation>o arquivo {path} não é um backup de chave: escolha o que é</translation>
    </message>
    <message>
        <source>the passphrase does not open the backup {path}, or the file is damaged</source>
        <translation>a frase secreta não abre o backup {path}, ou o arquivo está danificado</translation>
    </message>
    <message>
        <source>the backup {path} does not read back as it was written: choose another place, this one is unreliable</source>
        <translation>o backup {path} não é lido como foi gravado: escolha outro lugar, este não é confiável</translation>
    </message>
    <message>
        <source>a key has {due} words and these are {count}</source>
        <translation>uma chave tem {due} palavras, e aqui há {count}</translation>
    </message>
    <message>
        <source>word {number}, {word}, is not in the list of words: check your copy on paper</source>
        <translation>a palavra {number}, {word}, não está na lista: confira sua cópia em papel</translation>
    </message>
    <message>
        <source>word {number}, {word}, is not in the list of words: it may be {near}</source>
        <translation>a palavra {number}, {word}, não está na lista: talvez seja {near}</translation>
    </message>
    <message>
        <source>all words are in the list, but they do not fit together: one may be wrong, or two may be swapped</source>
        <translation>todas as palavras estão na lista, mas não combinam: uma pode estar errada, ou duas podem estar trocadas</translation>
    </message>
    <message>
        <source>the words do not belong together: look at word {number}, {word}, which may have been {near}</source>
        <translation>as palavras não combinam: confira a palavra {number}, {word}, que talvez fosse {near}</translation>
    </message>
    <message>
        <source>the words do not belong together: words {first} and {second} may have changed places</source>
        <translation>as palavras não combinam: as palavras {first} e {second} podem ter trocado de lugar</translation>
    </message>
</context>
<context>
    <name>notices</name>
    <message>
        <source>Dismiss</source>
        <translation>Dispensar</translation>
    </message>
    <message>
        <source>Your settings could not be read. They are kept as {detail}, and the usual ones hold until you choose others.</source>
        <translation>Suas configurações não puderam ser lidas. Elas estão guardadas em {detail}, e as padrão valem até você escolher outras.</translation>
    </message>
    <message>
        <source>Your settings were written by a newer Tequio. What this one knows of them is used; they are kept as {detail}.</source>
        <translation>Suas configurações foram gravadas por um Tequio mais novo. O que este conhece delas é usado; elas estão guardadas em {detail}.</translation>
    </message>
    <message>
        <source>Your settings could not be saved ({detail}). They hold until you quit; make room or make the file writable, and they will be saved.</source>
        <translation>Suas configurações não puderam ser salvas ({detail}). Elas valem até você sair; libere espaço ou permita gravar no arquivo, e elas serão salvas.</translation>
    </message>
    <message>
        <source>A worker that was started elsewhere runs already. This window controls it, and it goes on when you quit.</source>
        <translation>Um serviço em segundo plano iniciado em outro lugar já está rodando. Esta janela o controla, e ele continua quando você sai.</translation>
    </message>
    <message>
        <source>The worker here was started elsewhere, so this window cannot change its network. End it, then join again.</source>
        <translation>O serviço em segundo plano foi iniciado em outro lugar, então esta janela não pode mudar a rede dele. Encerre-o e entre de novo.</translation>
    </message>
    <message>
        <source>You joined {detail}.</source>
        <translation>Você entrou em {detail}.</translation>
    </message>
    <message>
        <source>This competition link is incomplete ({detail}). Copy it again.</source>
        <translation>Este link de competição está incompleto ({detail}). Copie-o de novo.</translation>
    </message>
    <message>
        <source>That competition is in another network, whose ledger is {detail}. Choose Join a network, then open the link again.</source>
        <translation>Essa competição está em outra rede, cujo registro é {detail}. Escolha Entrar em uma rede e abra o link de novo.</translation>
    </message>
    <message>
        <source>Your desktop shows no tray icons, so closing this window minimises it. Ctrl+Q quits and stops lending.</source>
        <translation>Sua área de trabalho não mostra ícones na bandeja, então fechar esta janela a minimiza. Ctrl+Q sai e para de emprestar.</translation>
    </message>
</context>
<context>
    <name>pages</name>
    <message>
        <source>Home</source>
        <translation>Início</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>Treinamentos</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modelo</translation>
    </message>
    <message>
        <source>Competitions</source>
        <translation>Competições</translation>
    </message>
    <message>
        <source>Points</source>
        <translation>Pontos</translation>
    </message>
    <message>
        <source>Hardware</source>
        <translation>Hardware</translation>
    </message>
    <message>
        <source>Activity</source>
        <translation>Atividade</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Configurações</translation>
    </message>
</context>
<context>
    <name>remedies</name>
    <message>
        <source>Try again</source>
        <translation>Tentar de novo</translation>
    </message>
    <message>
        <source>At the present rate, this month's {cap} of traffic will be used up on {day}. Then nothing is lent until the next month, unless you raise the limit.</source>
        <translation>Neste ritmo, os {cap} de tráfego deste mês acabam em {day}. Depois disso, nada é emprestado até o mês seguinte, a menos que você aumente o limite.</translation>
    </message>
    <message>
        <source>Statements that wait here for it: {waiting}.</source>
        <translation>Declarações que esperam por ele aqui: {waiting}.</translation>
    </message>
    <message>
        <source>Your key has no backup: if this disk fails, your points cannot be claimed.</source>
        <translation>Sua chave não tem backup: se este disco falhar, seus pontos se perdem.</translation>
    </message>
    <message>
        <source>Open Settings</source>
        <translation>Abrir Configurações</translation>
    </message>
    <message>
        <source>Open Hardware</source>
        <translation>Abrir Hardware</translation>
    </message>
    <message>
        <source>Open Activity</source>
        <translation>Abrir Atividade</translation>
    </message>
    <message>
        <source>Open Runs</source>
        <translation>Abrir Treinamentos</translation>
    </message>
    <message>
        <source>Join a network…</source>
        <translation>Entrar em uma rede…</translation>
    </message>
    <message>
        <source>Back it up</source>
        <translation>Fazer backup</translation>
    </message>
    <message>
        <source>The network has not answered since {since}.</source>
        <translation>A rede não responde desde {since}.</translation>
    </message>
    <message>
        <source>The network has not answered since {since}. Work goes on, and points follow later.</source>
        <translation>A rede não responde desde {since}. O trabalho continua, e os pontos vêm depois.</translation>
    </message>
    <message>
        <source>Update now</source>
        <translation>Atualizar agora</translation>
    </message>
    <message>
        <source>Update it the way it was installed, for example with git, pip or the system's packages.</source>
        <translation>Atualize-o do mesmo jeito que foi instalado, por exemplo com git, pip ou os pacotes do sistema.</translation>
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
        <translation>Para de emprestar agora</translation>
    </message>
    <message>
        <source>on</source>
        <translation>ligado</translation>
    </message>
    <message>
        <source>off</source>
        <translation>desligado</translation>
    </message>
    <message>
        <source>{note} Default: {default}.</source>
        <translation>{note} Padrão: {default}.</translation>
    </message>
    <message>
        <source>When to lend</source>
        <translation>Quando emprestar</translation>
    </message>
    <message>
        <source>Tequio runs only when every rule allows it. Changes apply immediately.</source>
        <translation>O Tequio só roda quando todas as regras permitem. As mudanças valem na hora.</translation>
    </message>
    <message>
        <source>While you're using the computer</source>
        <translation>Enquanto você usa o computador</translation>
    </message>
    <message>
        <source>Games and films</source>
        <translation>Jogos e filmes</translation>
    </message>
    <message>
        <source>Power</source>
        <translation>Energia</translation>
    </message>
    <message>
        <source>Other programs</source>
        <translation>Outros programas</translation>
    </message>
    <message>
        <source>Competitions</source>
        <translation>Competições</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>Perfil</translation>
    </message>
    <message>
        <source>Default: Balanced. A preset changes only the settings named on its card.</source>
        <translation>Padrão: Equilibrado. Um perfil só muda as configurações citadas no cartão dele.</translation>
    </message>
    <message>
        <source>Idle time before starting</source>
        <translation>Tempo ocioso antes de começar</translation>
    </message>
    <message>
        <source>Starts after this long without input, or as soon as the screen is locked.</source>
        <translation>Começa depois desse tempo sem atividade, ou assim que a tela é bloqueada.</translation>
    </message>
    <message>
        <source>min</source>
        <translation>min</translation>
    </message>
    <message>
        <source>Immediately</source>
        <translation>Imediatamente</translation>
    </message>
    <message>
        <source>Lend while I use the computer</source>
        <translation>Emprestar enquanto eu uso o computador</translation>
    </message>
    <message>
        <source>Tequio then works for part of the time. The rules for games and films still apply.</source>
        <translation>O Tequio então trabalha parte do tempo. As regras para jogos e filmes continuam valendo.</translation>
    </message>
    <message>
        <source>Share of the time</source>
        <translation>Parte do tempo</translation>
    </message>
    <message>
        <source>How much of the time Tequio works while you use the computer.</source>
        <translation>Quanto do tempo o Tequio trabalha enquanto você usa o computador.</translation>
    </message>
    <message>
        <source>Keep the computer awake</source>
        <translation>Manter o computador acordado</translation>
    </message>
    <message>
        <source>Keeps the computer from going to sleep while something is lent.</source>
        <translation>Impede que o computador seja suspenso enquanto algo é emprestado.</translation>
    </message>
    <message>
        <source>Hours of the week</source>
        <translation>Horas da semana</translation>
    </message>
    <message>
        <source>Drag to select hours, or use Shift+arrow keys; Space toggles an hour.</source>
        <translation>Arraste para selecionar horas, ou use Shift+setas; Espaço alterna uma hora.</translation>
    </message>
    <message>
        <source>all hours</source>
        <translation>todas as horas</translation>
    </message>
    <message>
        <source>Pause for games</source>
        <translation>Pausar para jogos</translation>
    </message>
    <message>
        <source>Nothing is lent while a game runs or fills the screen, and for 60 s afterwards.</source>
        <translation>Nada é emprestado enquanto um jogo roda ou ocupa a tela, nem nos 60 s seguintes.</translation>
    </message>
    <message>
        <source>Pause for films</source>
        <translation>Pausar para filmes</translation>
    </message>
    <message>
        <source>Nothing is lent while a browser or a video player fills the screen.</source>
        <translation>Nada é emprestado enquanto um navegador ou reprodutor de vídeo ocupa a tela.</translation>
    </message>
    <message>
        <source>Exclusive programs</source>
        <translation>Programas exclusivos</translation>
    </message>
    <message>
        <source>Nothing is lent while one of these runs: video editing, calls, recording.</source>
        <translation>Nada é emprestado enquanto um destes roda: edição de vídeo, chamadas, gravação.</translation>
    </message>
    <message>
        <source>none</source>
        <translation>nenhum</translation>
    </message>
    <message>
        <source>Lend on battery</source>
        <translation>Emprestar na bateria</translation>
    </message>
    <message>
        <source>Continues when the computer is unplugged.</source>
        <translation>Continua quando o computador está fora da tomada.</translation>
    </message>
    <message>
        <source>Lend in power saving mode</source>
        <translation>Emprestar com economia de energia</translation>
    </message>
    <message>
        <source>Continues when power saving is switched on, by you or by the system.</source>
        <translation>Continua quando a economia de energia é ligada, por você ou pelo sistema.</translation>
    </message>
    <message>
        <source>Other programs on the GPU</source>
        <translation>Outros programas na GPU</translation>
    </message>
    <message>
        <source>Pauses while other programs keep the GPU busier than this for 3 s.</source>
        <translation>Pausa quando outros programas ocupam a GPU mais do que isto por 3 s.</translation>
    </message>
    <message>
        <source>%</source>
        <translation>%</translation>
    </message>
    <message>
        <source>Other programs on the CPU</source>
        <translation>Outros programas na CPU</translation>
    </message>
    <message>
        <source>Pauses while other programs keep all CPU cores together busier than this.</source>
        <translation>Pausa quando outros programas ocupam todos os núcleos da CPU juntos mais do que isto.</translation>
    </message>
    <message>
        <source>Help judge competitions</source>
        <translation>Ajudar a avaliar competições</translation>
    </message>
    <message>
        <source>Needs about five bytes of memory for each parameter of a model, and some minutes of computing for each model once the texts are open. It follows the same rules as training. A judge cannot win with their own entry, nor judge a run they trained in.</source>
        <translation>Usa cerca de cinco bytes de memória por parâmetro de um modelo, e alguns minutos de computação por modelo quando os textos são abertos. Segue as mesmas regras do treinamento. Quem avalia não pode ganhar com um modelo próprio nem avaliar um treinamento de que participou.</translation>
    </message>
    <message>
        <source>Network</source>
        <translation>Rede</translation>
    </message>
    <message>
        <source>The network that you work for, and how much bandwidth that may take.</source>
        <translation>A rede para a qual você trabalha, e quanta banda isso pode usar.</translation>
    </message>
    <message>
        <source>Your network</source>
        <translation>Sua rede</translation>
    </message>
    <message>
        <source>Bandwidth</source>
        <translation>Largura de banda</translation>
    </message>
    <message>
        <source>Per month</source>
        <translation>Por mês</translation>
    </message>
    <message>
        <source>Connections from others</source>
        <translation>Conexões de outros</translation>
    </message>
    <message>
        <source>Metered networks</source>
        <translation>Conexões limitadas</translation>
    </message>
    <message>
        <source>Ledger</source>
        <translation>Registro</translation>
    </message>
    <message>
        <source>The server that keeps the public log of the network's work and points.</source>
        <translation>O servidor que mantém o log público do trabalho e dos pontos da rede.</translation>
    </message>
    <message>
        <source>Upload</source>
        <translation>Upload</translation>
    </message>
    <message>
        <source>Upload limit. Stay below half your connection speed to keep games and calls smooth.</source>
        <translation>Limite de upload. Fique abaixo da metade da sua conexão para que jogos e chamadas continuem fluidos.</translation>
    </message>
    <message>
        <source>Mbit/s</source>
        <translation>Mbit/s</translation>
    </message>
    <message>
        <source>No limit</source>
        <translation>Sem limite</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>Download</translation>
    </message>
    <message>
        <source>Download limit. It does not slow the models that you score for competitions.</source>
        <translation>Limite de download. Não se aplica aos modelos que você avalia para competições.</translation>
    </message>
    <message>
        <source>Monthly quota</source>
        <translation>Cota mensal</translation>
    </message>
    <message>
        <source>Upload and download together. Once it is used up, lending resumes on the first of the next month.</source>
        <translation>Upload e download somados. Quando acaba, o empréstimo volta no dia primeiro do mês seguinte.</translation>
    </message>
    <message>
        <source>GB</source>
        <translation>GB</translation>
    </message>
    <message>
        <source>Used this month</source>
        <translation>Usado neste mês</translation>
    </message>
    <message>
        <source>Others can connect to this computer</source>
        <translation>Outros podem se conectar a este computador</translation>
    </message>
    <message>
        <source>Found out by asking other computers of the network to try.</source>
        <translation>Verificado pedindo a outros computadores da rede que tentem.</translation>
    </message>
    <message>
        <source>Open a port on the router</source>
        <translation>Abrir uma porta no roteador</translation>
    </message>
    <message>
        <source>Asks your router by UPnP or NAT-PMP to let other computers of the network connect to this one. The port is closed when Tequio ends.</source>
        <translation>Pede ao seu roteador, por UPnP ou NAT-PMP, que deixe outros computadores da rede se conectarem a este. A porta é fechada quando o Tequio termina.</translation>
    </message>
    <message>
        <source>Find members in the local network</source>
        <translation>Encontrar membros na rede local</translation>
    </message>
    <message>
        <source>Computers behind the same router exchange directly instead of through the internet. Everyone in the local network can see that this computer runs Tequio.</source>
        <translation>Computadores atrás do mesmo roteador trocam dados diretamente, em vez de pela internet. Qualquer pessoa na rede local pode ver que este computador executa o Tequio.</translation>
    </message>
    <message>
        <source>Lend on metered networks</source>
        <translation>Emprestar em conexões limitadas</translation>
    </message>
    <message>
        <source>On a phone's hotspot, or where the system marks the network as metered.</source>
        <translation>No roteador de um celular, ou onde o sistema marca a conexão como limitada.</translation>
    </message>
    <message>
        <source>Storage</source>
        <translation>Armazenamento</translation>
    </message>
    <message>
        <source>How much disk space Tequio may use.</source>
        <translation>Quanto espaço em disco o Tequio pode usar.</translation>
    </message>
    <message>
        <source>Tequio's files</source>
        <translation>Arquivos do Tequio</translation>
    </message>
    <message>
        <source>Disk</source>
        <translation>Disco</translation>
    </message>
    <message>
        <source>Storage limit</source>
        <translation>Limite de armazenamento</translation>
    </message>
    <message>
        <source>For the model, data and updates of your runs. The oldest are deleted first.</source>
        <translation>Para o modelo, os dados e as atualizações dos seus treinamentos. Os mais antigos são apagados primeiro.</translation>
    </message>
    <message>
        <source>Used by Tequio</source>
        <translation>Usado pelo Tequio</translation>
    </message>
    <message>
        <source>Always keep free</source>
        <translation>Manter sempre livre</translation>
    </message>
    <message>
        <source>Lending waits when less disk space than this is free.</source>
        <translation>O empréstimo espera quando há menos espaço em disco livre do que isto.</translation>
    </message>
    <message>
        <source>Free now</source>
        <translation>Livre agora</translation>
    </message>
    <message>
        <source>On the disk that holds Tequio's files.</source>
        <translation>No disco que contém os arquivos do Tequio.</translation>
    </message>
    <message>
        <source>Notifications</source>
        <translation>Notificações</translation>
    </message>
    <message>
        <source>What Tequio notifies you of.</source>
        <translation>O que o Tequio avisa.</translation>
    </message>
    <message>
        <source>First points</source>
        <translation>Primeiros pontos</translation>
    </message>
    <message>
        <source>Once, when your first points are verified.</source>
        <translation>Uma vez, quando seus primeiros pontos são verificados.</translation>
    </message>
    <message>
        <source>Weekly rank</source>
        <translation>Posição semanal</translation>
    </message>
    <message>
        <source>Once a week, how your rank has changed.</source>
        <translation>Uma vez por semana, como sua posição mudou.</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>Atenção</translation>
    </message>
    <message>
        <source>When lending cannot continue until you do something.</source>
        <translation>Quando o empréstimo não pode continuar até você fazer algo.</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>Treinamentos</translation>
    </message>
    <message>
        <source>When a run you are in ends, or goes back to an earlier model.</source>
        <translation>Quando um treinamento de que você participa termina ou volta a um modelo anterior.</translation>
    </message>
    <message>
        <source>When one begins, when its deadline is near and when it is decided; when you are drawn to judge, and when all your scores are in.</source>
        <translation>Quando uma começa, quando o prazo está perto e quando é decidida; quando você é sorteado para avaliar, e quando todas as suas notas chegaram.</translation>
    </message>
    <message>
        <source>Announcements</source>
        <translation>Avisos</translation>
    </message>
    <message>
        <source>When the organisers of the network announce something to everybody.</source>
        <translation>Quando os organizadores da rede avisam todos de algo.</translation>
    </message>
    <message>
        <source>Notifications wait while a program fills the screen.</source>
        <translation>As notificações esperam enquanto um programa ocupa a tela.</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>Aparência</translation>
    </message>
    <message>
        <source>Colours, language and motion.</source>
        <translation>Cores, idioma e movimento.</translation>
    </message>
    <message>
        <source>Colours</source>
        <translation>Cores</translation>
    </message>
    <message>
        <source>A light or a dark theme.</source>
        <translation>Um tema claro ou escuro.</translation>
    </message>
    <message>
        <source>Same as system</source>
        <translation>Igual ao sistema</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>Claro</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>Escuro</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Idioma</translation>
    </message>
    <message>
        <source>For texts, dates and numbers. Texts without a translation are in English.</source>
        <translation>Para textos, datas e números. Textos sem tradução ficam em inglês.</translation>
    </message>
    <message>
        <source>Reduced motion</source>
        <translation>Menos movimento</translation>
    </message>
    <message>
        <source>No sliding or fading. The system's own setting has the same effect.</source>
        <translation>Sem deslizar nem esmaecer. A configuração do próprio sistema tem o mesmo efeito.</translation>
    </message>
    <message>
        <source>Account and keys</source>
        <translation>Conta e chaves</translation>
    </message>
    <message>
        <source>Your identity on the network.</source>
        <translation>Sua identidade na rede.</translation>
    </message>
    <message>
        <source>Name and team</source>
        <translation>Nome e equipe</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>Chave</translation>
    </message>
    <message>
        <source>If this computer is lost or the key is stolen</source>
        <translation>Se este computador se perder ou a chave for roubada</translation>
    </message>
    <message>
        <source>Public name</source>
        <translation>Nome público</translation>
    </message>
    <message>
        <source>Shown instead of your key in rankings and on pages. Unique in this network.</source>
        <translation>Aparece no lugar da sua chave nas classificações e nas páginas. Único nesta rede.</translation>
    </message>
    <message>
        <source>nickname rename</source>
        <translation>apelido renomear</translation>
    </message>
    <message>
        <source>Team</source>
        <translation>Equipe</translation>
    </message>
    <message>
        <source>Join one with a link from its owner, or found your own. What you earn also counts for your team.</source>
        <translation>Entre em uma com um link de quem é responsável por ela ou crie a sua. O que você ganha conta também para a sua equipe.</translation>
    </message>
    <message>
        <source>group friends</source>
        <translation>grupo amigos</translation>
    </message>
    <message>
        <source>Peer id</source>
        <translation>ID de par</translation>
    </message>
    <message>
        <source>How other computers find yours; visible to everyone.</source>
        <translation>Como outros computadores encontram o seu; visível para todos.</translation>
    </message>
    <message>
        <source>Key fingerprint</source>
        <translation>Impressão digital da chave</translation>
    </message>
    <message>
        <source>The public half of your key, shown with your points and in the ranking. The secret half never leaves this computer; nobody who helps you will ask for it.</source>
        <translation>A metade pública da sua chave, mostrada com seus pontos e na classificação. A metade secreta nunca sai deste computador; ninguém que ajude você vai pedi-la.</translation>
    </message>
    <message>
        <source>Linked account</source>
        <translation>Conta vinculada</translation>
    </message>
    <message>
        <source>Shows the network that a person is behind your key. Some runs ask for it.</source>
        <translation>Mostra à rede que há uma pessoa por trás da sua chave. Alguns treinamentos pedem isso.</translation>
    </message>
    <message>
        <source>connect vouch github tier</source>
        <translation>conectar atestar github nível</translation>
    </message>
    <message>
        <source>Standing</source>
        <translation>Situação</translation>
    </message>
    <message>
        <source>Your key is in good standing.</source>
        <translation>Sua chave está em boa situação.</translation>
    </message>
    <message>
        <source>Appeal</source>
        <translation>Recurso</translation>
    </message>
    <message>
        <source>If your key was restricted by mistake, ask the organisers to review it.</source>
        <translation>Se sua chave foi restrita por engano, peça aos organizadores que revejam.</translation>
    </message>
    <message>
        <source>quarantine ban suspected review</source>
        <translation>quarentena banimento suspeita revisão</translation>
    </message>
    <message>
        <source>Backup and restore</source>
        <translation>Backup e restauração</translation>
    </message>
    <message>
        <source>Setup</source>
        <translation>Configuração inicial</translation>
    </message>
    <message>
        <source>Run the setup again. Nothing changes until you finish it.</source>
        <translation>Faça a configuração inicial de novo. Nada muda até você terminá-la.</translation>
    </message>
    <message>
        <source>Recovery key</source>
        <translation>Chave de recuperação</translation>
    </message>
    <message>
        <source>Stops this computer's key and moves your points to a new one, even if a thief has the computer. Keep it somewhere else.</source>
        <translation>Bloqueia a chave deste computador e leva seus pontos para uma nova, mesmo se um ladrão estiver com o computador. Guarde-a em outro lugar.</translation>
    </message>
    <message>
        <source>stolen lost theft words paper</source>
        <translation>roubado perdido furto palavras papel</translation>
    </message>
    <message>
        <source>Replace this computer's key</source>
        <translation>Substituir a chave deste computador</translation>
    </message>
    <message>
        <source>A new key gets your points, standing, name and team. The present one can never be used again.</source>
        <translation>Uma nova chave recebe seus pontos, situação, nome e equipe. A atual nunca mais poderá ser usada.</translation>
    </message>
    <message>
        <source>new key rotate stolen</source>
        <translation>nova chave trocar roubada</translation>
    </message>
    <message>
        <source>A lost or stolen computer</source>
        <translation>Um computador perdido ou roubado</translation>
    </message>
    <message>
        <source>Stop the key of another computer of yours, or move its points to this one.</source>
        <translation>Bloqueie a chave de outro computador seu, ou traga os pontos dela para este.</translation>
    </message>
    <message>
        <source>revoke stolen thief</source>
        <translation>revogar roubada ladrão</translation>
    </message>
    <message>
        <source>Startup</source>
        <translation>Inicialização</translation>
    </message>
    <message>
        <source>Whether Tequio starts when you log in.</source>
        <translation>Se o Tequio inicia quando você entra na sessão.</translation>
    </message>
    <message>
        <source>Start at login</source>
        <translation>Iniciar ao entrar na sessão</translation>
    </message>
    <message>
        <source>Starts minimised to the tray; the window stays closed.</source>
        <translation>Inicia minimizado na bandeja; a janela continua fechada.</translation>
    </message>
    <message>
        <source>your choice during setup</source>
        <translation>sua escolha na configuração inicial</translation>
    </message>
    <message>
        <source>autostart background hidden</source>
        <translation>início automático segundo plano oculto</translation>
    </message>
    <message>
        <source>Privacy</source>
        <translation>Privacidade</translation>
    </message>
    <message>
        <source>Everything that leaves this computer, and where it goes.</source>
        <translation>Tudo o que sai deste computador, e para onde vai.</translation>
    </message>
    <message>
        <source>To the public ledger (permanent, readable by anyone)</source>
        <translation>Para o registro público (permanente, qualquer um pode ler)</translation>
    </message>
    <message>
        <source>To the ledger's operator</source>
        <translation>Para o operador do registro</translation>
    </message>
    <message>
        <source>To other volunteers in your runs</source>
        <translation>Para outros voluntários nos seus treinamentos</translation>
    </message>
    <message>
        <source>To your router</source>
        <translation>Para o seu roteador</translation>
    </message>
    <message>
        <source>To your local network</source>
        <translation>Para a sua rede local</translation>
    </message>
    <message>
        <source>To servers that offer Tequio or a run's data</source>
        <translation>Para servidores que oferecem o Tequio ou os dados de um treinamento</translation>
    </message>
    <message>
        <source>Never sent</source>
        <translation>Nunca enviado</translation>
    </message>
    <message>
        <source>Telemetry</source>
        <translation>Telemetria</translation>
    </message>
    <message>
        <source>No usage data and no crash reports are ever sent. After an error you can copy a report and send it yourself.</source>
        <translation>Nenhum dado de uso nem relatório de falha é enviado. Depois de um erro, você pode copiar um relatório e enviá-lo você mesmo.</translation>
    </message>
    <message>
        <source>None</source>
        <translation>Nenhuma</translation>
    </message>
    <message>
        <source>Your public key, and the work that a new key costs</source>
        <translation>Sua chave pública, e o trabalho que uma nova chave custa</translation>
    </message>
    <message>
        <source>Once, so that points have an owner.</source>
        <translation>Uma vez, para que os pontos tenham um dono.</translation>
    </message>
    <message>
        <source>That you are ready, in which roles, with which model</source>
        <translation>Que você está pronto, em quais papéis, com qual modelo</translation>
    </message>
    <message>
        <source>Run, roles, the hash of the model you hold, a commitment for the draw.</source>
        <translation>Treinamento, papéis, o hash do modelo que você tem, um compromisso para o sorteio.</translation>
    </message>
    <message>
        <source>That you leave, with a reason code</source>
        <translation>Que você sai, com um código de motivo</translation>
    </message>
    <message>
        <source>When lending stops. The code never says why you stopped.</source>
        <translation>Quando o empréstimo para. O código nunca diz por que você parou.</translation>
    </message>
    <message>
        <source>The header of each update that you trained</source>
        <translation>O cabeçalho de cada atualização que você treinou</translation>
    </message>
    <message>
        <source>Run, round, windows of data, tokens, steps, two losses, hashes of model and update.</source>
        <translation>Treinamento, rodada, janelas de dados, tokens, passos, duas perdas, hashes do modelo e da atualização.</translation>
    </message>
    <message>
        <source>Which model you hold or computed for a round</source>
        <translation>Qual modelo você tem ou calculou em uma rodada</translation>
    </message>
    <message>
        <source>Hashes of its parts, and your lot for the draw of witnesses.</source>
        <translation>Hashes das partes dele, e seu número para o sorteio das testemunhas.</translation>
    </message>
    <message>
        <source>What you found as a witness</source>
        <translation>O que você constatou como testemunha</translation>
    </message>
    <message>
        <source>Which updates arrived, which were refused and by which rule, hashes, the hash of the next model.</source>
        <translation>Quais atualizações chegaram, quais foram recusadas e por qual regra, hashes, o hash do próximo modelo.</translation>
    </message>
    <message>
        <source>What you found when you repeated another volunteer's work</source>
        <translation>O que você constatou ao repetir o trabalho de outro voluntário</translation>
    </message>
    <message>
        <source>How far its result is from yours, in a few numbers, and a sketch of yours.</source>
        <translation>O quanto o resultado dele difere do seu, em poucos números, e um esboço do seu.</translation>
    </message>
    <message>
        <source>How good a model is, where you were drawn to measure it</source>
        <translation>A qualidade de um modelo, quando você é sorteado para medi-la</translation>
    </message>
    <message>
        <source>Its hash, how many bits it needs for text that the run keeps aside, and how it continues a given beginning of a text.</source>
        <translation>O hash dele, de quantos bits precisa para um texto que o treinamento reserva, e como ele continua um dado começo de texto.</translation>
    </message>
    <message>
        <source>Your offer to judge competitions, and your scores</source>
        <translation>Sua oferta para avaliar competições, e suas notas</translation>
    </message>
    <message>
        <source>If you switched it on: a lot for the draw, commitments, the bits of each text, the program's version, the device's name and its threads.</source>
        <translation>Se você ligou isso: um número para o sorteio, compromissos, os bits de cada texto, a versão do programa, o nome do dispositivo e suas threads.</translation>
    </message>
    <message>
        <source>Proofs that a key contradicted itself</source>
        <translation>Provas de que uma chave se contradisse</translation>
    </message>
    <message>
        <source>Two statements signed by that key; and your appeal, if you make one.</source>
        <translation>Duas declarações assinadas por essa chave; e seu recurso, se você fizer um.</translation>
    </message>
    <message>
        <source>That a key has a recovery key, was replaced or was revoked</source>
        <translation>Que uma chave tem uma chave de recuperação, foi substituída ou revogada</translation>
    </message>
    <message>
        <source>If you do that: the public halves of the keys, which shows that they have one owner.</source>
        <translation>Se você fizer isso: as metades públicas das chaves, o que mostra que elas têm o mesmo dono.</translation>
    </message>
    <message>
        <source>What you publish yourself</source>
        <translation>O que você mesmo publica</translation>
    </message>
    <message>
        <source>Your public name; the team that you earn for; entries and challenges in competitions.</source>
        <translation>Seu nome público; a equipe para a qual você ganha; inscrições e contestações em competições.</translation>
    </message>
    <message>
        <source>With each statement</source>
        <translation>Com cada declaração</translation>
    </message>
    <message>
        <source>Its number, the time on your clock, the statement before it, your signature.</source>
        <translation>O número dela, a hora no seu relógio, a declaração anterior, sua assinatura.</translation>
    </message>
    <message>
        <source>Your internet address and your requests</source>
        <translation>Seu endereço de internet e seus pedidos</translation>
    </message>
    <message>
        <source>As with every web server: log entries, runs, your own points and ranking.</source>
        <translation>Como em todo servidor web: entradas do log, treinamentos, seus próprios pontos e sua posição.</translation>
    </message>
    <message>
        <source>The text of an appeal, if you write one</source>
        <translation>O texto de um recurso, se você escrever um</translation>
    </message>
    <message>
        <source>With your key, the time and your signature.</source>
        <translation>Com sua chave, a hora e sua assinatura.</translation>
    </message>
    <message>
        <source>Your peer id, addresses and ports</source>
        <translation>Seu ID de par, endereços e portas</translation>
    </message>
    <message>
        <source>Including those of this computer in its local network, and the version of the network library.</source>
        <translation>Inclusive os deste computador na rede local, e a versão da biblioteca de rede.</translation>
    </message>
    <message>
        <source>Updates, models, training data and Tequio itself</source>
        <translation>Atualizações, modelos, dados de treinamento e o próprio Tequio</translation>
    </message>
    <message>
        <source>What you trained, and what others ask for: pieces of the public model and data, and of the versions of Tequio that you have fetched.</source>
        <translation>O que você treinou, e o que os outros pedem: partes do modelo e dos dados públicos, e das versões do Tequio que você baixou.</translation>
    </message>
    <message>
        <source>Your statements of the current round</source>
        <translation>Suas declarações da rodada atual</translation>
    </message>
    <message>
        <source>The same statements that the ledger gets.</source>
        <translation>As mesmas declarações que o registro recebe.</translation>
    </message>
    <message>
        <source>A port, and the name Tequio</source>
        <translation>Uma porta e o nome Tequio</translation>
    </message>
    <message>
        <source>Only if you let Tequio open a port on the router, in Network.</source>
        <translation>Só se você deixar o Tequio abrir uma porta no roteador, em Rede.</translation>
    </message>
    <message>
        <source>That this computer runs Tequio, and its port</source>
        <translation>Que este computador executa o Tequio, e sua porta</translation>
    </message>
    <message>
        <source>Only if you let Tequio find members there, in Network. Your key is not named.</source>
        <translation>Só se você deixar o Tequio encontrar membros nela, em Rede. Sua chave não é informada.</translation>
    </message>
    <message>
        <source>Your internet address and what you fetch</source>
        <translation>Seu endereço de internet e o que você baixa</translation>
    </message>
    <message>
        <source>When Tequio looks for a newer version, or fetches it or what training needs.</source>
        <translation>Quando o Tequio procura uma versão mais nova, a baixa, ou baixa o que o treinamento exige.</translation>
    </message>
    <message>
        <source>Your internet address and the parts you fetch</source>
        <translation>Seu endereço de internet e as partes que você baixa</translation>
    </message>
    <message>
        <source>When the organiser of a run keeps its data on a web server.</source>
        <translation>Quando o organizador de um treinamento mantém os dados em um servidor web.</translation>
    </message>
    <message>
        <source>Your files, programs, games and windows</source>
        <translation>Seus arquivos, programas, jogos e janelas</translation>
    </message>
    <message>
        <source>Tequio checks them on this computer only, to decide whether to lend.</source>
        <translation>O Tequio os verifica só neste computador, para decidir se empresta.</translation>
    </message>
    <message>
        <source>User name, computer name and device readings</source>
        <translation>Nome de usuário, nome do computador e leituras do dispositivo</translation>
    </message>
    <message>
        <source>Others see how fast you train. Judges also publish the name of the device that scored.</source>
        <translation>Os outros veem a velocidade com que você treina. Avaliadores também publicam o nome do dispositivo que avaliou.</translation>
    </message>
    <message>
        <source>Your settings and hours</source>
        <translation>Suas configurações e horas</translation>
    </message>
    <message>
        <source>They stay in the app's folder.</source>
        <translation>Elas ficam na pasta do aplicativo.</translation>
    </message>
    <message>
        <source>Advanced</source>
        <translation>Avançado</translation>
    </message>
    <message>
        <source>Most people never need these.</source>
        <translation>A maioria das pessoas nunca precisa disto.</translation>
    </message>
    <message>
        <source>Worker</source>
        <translation>Serviço em segundo plano</translation>
    </message>
    <message>
        <source>Updates</source>
        <translation>Atualizações</translation>
    </message>
    <message>
        <source>Reset</source>
        <translation>Restaurar padrões</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>Pasta</translation>
    </message>
    <message>
        <source>Key, store and state. To move it: quit, move the folder, and start with --dir.</source>
        <translation>Chave, armazenamento e estado. Para mudá-la de lugar: saia, mova a pasta e inicie com --dir.</translation>
    </message>
    <message>
        <source>Listen address</source>
        <translation>Endereço de escuta</translation>
    </message>
    <message>
        <source>Where peers reach this computer, for example /ip4/0.0.0.0/tcp/4001.</source>
        <translation>Onde os pares alcançam este computador, por exemplo /ip4/0.0.0.0/tcp/4001.</translation>
    </message>
    <message>
        <source>any free port</source>
        <translation>qualquer porta livre</translation>
    </message>
    <message>
        <source>Log level</source>
        <translation>Nível do log</translation>
    </message>
    <message>
        <source>How much is written to worker.log in the folder. A change restarts the worker.</source>
        <translation>Quanto é gravado em worker.log na pasta. Uma mudança reinicia o serviço em segundo plano.</translation>
    </message>
    <message>
        <source>Everything</source>
        <translation>Tudo</translation>
    </message>
    <message>
        <source>Events</source>
        <translation>Eventos</translation>
    </message>
    <message>
        <source>Warnings</source>
        <translation>Avisos</translation>
    </message>
    <message>
        <source>Errors</source>
        <translation>Erros</translation>
    </message>
    <message>
        <source>Update automatically</source>
        <translation>Atualizar automaticamente</translation>
    </message>
    <message>
        <source>Once a day Tequio looks for a newer version, fetches it, and tests it. It starts while you are away and no round is running; if a passphrase protects your key, the next time Tequio starts.</source>
        <translation>Uma vez por dia, o Tequio procura uma versão mais nova, a baixa e a testa. Ela começa quando você está fora e nenhuma rodada está em andamento; se uma frase secreta protege sua chave, na próxima vez que o Tequio abrir.</translation>
    </message>
    <message>
        <source>Reset all settings</source>
        <translation>Restaurar todos os padrões</translation>
    </message>
    <message>
        <source>Restores every default. Key, points, consent and chosen runs stay, except the processor's.</source>
        <translation>Restaura todos os padrões. Chave, pontos, consentimento e treinamentos escolhidos ficam, menos o do processador.</translation>
    </message>
</context>
<context>
    <name>vesting</name>
    <message>
        <source>{points} of your points are still vesting: they can be lost if work turns out not to have been done.</source>
        <translation>{points} dos seus pontos ainda são provisórios: podem se perder se o trabalho não tiver sido feito de verdade.</translation>
    </message>
    <message>
        <source>{points} more were forfeited, and are no longer counted.</source>
        <translation>Outros {points} foram perdidos e não contam mais.</translation>
    </message>
</context>
<context>
    <name>words</name>
    <message>
        <source>Lending</source>
        <translation>Emprestando</translation>
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
        <translation>Pausado</translation>
    </message>
    <message>
        <source>Snoozed</source>
        <translation>Pausa temporária</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>Atenção</translation>
    </message>
    <message>
        <source>nobody needs the computer. Gives way when you come back.</source>
        <translation>ninguém precisa do computador. Cede a vez quando você volta.</translation>
    </message>
    <message>
        <source>this device is lent also while you use the computer or play.</source>
        <translation>este dispositivo é emprestado também enquanto você usa o computador ou joga.</translation>
    </message>
    <message>
        <source>whether or not somebody uses the computer, which this worker cannot see. Pause stops it (tequio pause).</source>
        <translation>mesmo que alguém use o computador, pois este serviço em segundo plano não consegue ver isso. “Pausar” interrompe o empréstimo (tequio pause).</translation>
    </message>
    <message>
        <source>gently, at {share}% of the time, while you use the computer.</source>
        <translation>de leve, a {share}% do tempo, enquanto você usa o computador.</translation>
    </message>
    <message>
        <source>you started it although a rule says to wait. The rules decide again once they have allowed it for 5 min.</source>
        <translation>você começou embora uma regra mande esperar. As regras voltam a decidir quando tiverem permitido por 5 min.</translation>
    </message>
    <message>
        <source>scoring models for a competition, as you offered. See Competitions.</source>
        <translation>avaliando modelos para uma competição, como você ofereceu. Veja Competições.</translation>
    </message>
    <message>
        <source>nothing is lent before you agree to it. Choose when to lend, then Contribute.</source>
        <translation>nada é emprestado antes de você concordar. Escolha quando emprestar e depois Contribuir.</translation>
    </message>
    <message>
        <source>you paused it. Resumes when you choose Contribute.</source>
        <translation>você pausou. Continua quando você escolher Contribuir.</translation>
    </message>
    <message>
        <source>the last round is finished, as you asked. Resumes when you choose Contribute.</source>
        <translation>a última rodada terminou, como você pediu. Continua quando você escolher Contribuir.</translation>
    </message>
    <message>
        <source>you asked for a break. Resumes automatically.</source>
        <translation>você pediu uma pausa. Continua automaticamente.</translation>
    </message>
    <message>
        <source>you asked for a break. Resumes {until}.</source>
        <translation>você pediu uma pausa. Continua {until}.</translation>
    </message>
    <message>
        <source>this device is switched off. Switch it on in Hardware to lend it.</source>
        <translation>este dispositivo está desligado. Ligue-o em Hardware para emprestá-lo.</translation>
    </message>
    <message>
        <source>until {program} closes. Resumes 60 s after that.</source>
        <translation>até {program} fechar. Continua 60 s depois.</translation>
    </message>
    <message>
        <source>until your game closes. Resumes 60 s after that.</source>
        <translation>até seu jogo fechar. Continua 60 s depois.</translation>
    </message>
    <message>
        <source>your game has closed. Resumes {until}.</source>
        <translation>seu jogo fechou. Continua {until}.</translation>
    </message>
    <message>
        <source>round {round} is the last one. Then lending stops, as you asked.</source>
        <translation>a rodada {round} é a última. Depois o empréstimo para, como você pediu.</translation>
    </message>
    <message>
        <source>what training needs is not installed yet. Resumes when it has been downloaded.</source>
        <translation>o que o treinamento exige ainda não está instalado. Continua quando tiver sido baixado.</translation>
    </message>
    <message>
        <source>the training program keeps failing. Contribute tries again; Activity has the log.</source>
        <translation>o programa de treinamento falha repetidamente. Contribuir tenta de novo; Atividade tem o log.</translation>
    </message>
    <message>
        <source>can't reach the network at {address}. Tequio keeps trying; check your connection, or the address in Settings, Network.</source>
        <translation>não foi possível acessar a rede em {address}. O Tequio continua tentando; confira sua conexão, ou o endereço em Configurações, Rede.</translation>
    </message>
    <message>
        <source>no network was chosen yet. Choose one with Join a network.</source>
        <translation>nenhuma rede foi escolhida ainda. Escolha uma com Entrar em uma rede.</translation>
    </message>
    <message>
        <source>can't reach the network at {address}. Resumes when it answers.</source>
        <translation>não foi possível acessar a rede em {address}. Continua quando ela responder.</translation>
    </message>
    <message>
        <source>the other computers of the run cannot be reached. Tequio keeps trying; the listen address is in Settings, Advanced.</source>
        <translation>os outros computadores do treinamento não podem ser alcançados. O Tequio continua tentando; o endereço de escuta fica em Configurações, Avançado.</translation>
    </message>
    <message>
        <source>no run is open now. Resumes automatically when one opens.</source>
        <translation>nenhum treinamento está aberto agora. Continua automaticamente quando um abrir.</translation>
    </message>
    <message>
        <source>no open run fits this computer. Resumes when one does; Runs says what each needs.</source>
        <translation>nenhum treinamento aberto serve para este computador. Continua quando um servir; Treinamentos diz o que cada um exige.</translation>
    </message>
    <message>
        <source>every open run that fits this device is trained by another one of this computer. Resumes when another one opens.</source>
        <translation>todo treinamento aberto que serve para este dispositivo já está com outro deste computador. Continua quando outro abrir.</translation>
    </message>
    <message>
        <source>the run has ended. Resumes with another one; your points stay yours.</source>
        <translation>o treinamento terminou. Continua com outro; seus pontos continuam seus.</translation>
    </message>
    <message>
        <source>this computer cannot take part in the run ({problem}). See Runs; retries automatically.</source>
        <translation>este computador não pode participar do treinamento ({problem}). Veja Treinamentos; tenta de novo automaticamente.</translation>
    </message>
    <message>
        <source>the run brings its own code ({plugin}), which needs your consent. See Runs to allow it, or to choose another run.</source>
        <translation>o treinamento traz seu próprio código ({plugin}), que precisa do seu consentimento. Permita-o em Treinamentos ou escolha outro.</translation>
    </message>
    <message>
        <source>your key cannot take part now ({problem}). See Activity for what you can do.</source>
        <translation>sua chave não pode participar agora ({problem}). Veja em Atividade o que você pode fazer.</translation>
    </message>
    <message>
        <source>this network needs version {wanted} or newer; this is {own}. Resumes once Tequio is updated.</source>
        <translation>esta rede exige a versão {wanted} ou mais nova; esta é a {own}. Continua quando o Tequio for atualizado.</translation>
    </message>
    <message>
        <source>this computer's clock is {minutes} min ahead, so the network refuses its work. Resumes once the clock is set right.</source>
        <translation>o relógio deste computador está {minutes} min adiantado, e a rede recusa o trabalho dele. Continua quando o relógio for acertado.</translation>
    </message>
    <message>
        <source>this computer's clock is {minutes} min behind, so the network refuses its work. Resumes once the clock is set right.</source>
        <translation>o relógio deste computador está {minutes} min atrasado, e a rede recusa o trabalho dele. Continua quando o relógio for acertado.</translation>
    </message>
    <message>
        <source>no device is enabled. Turn one on in Hardware.</source>
        <translation>nenhum dispositivo está ligado. Ligue um em Hardware.</translation>
    </message>
    <message>
        <source>{device} has too little memory for this run, which needs {wanted} GB. Raise its limit in Hardware, choose another run, or open a cell with others in your network (tequio cell host).</source>
        <translation>{device} tem pouca memória para este treinamento, que exige {wanted} GB. Aumente o limite em Hardware, escolha outro treinamento ou abra uma célula com outras pessoas da sua rede (tequio cell host).</translation>
    </message>
    <message>
        <source>only {free} GB of disk space are free, and {wanted} GB should stay free. Resumes when there is 1 GB more than that.</source>
        <translation>só {free} GB de espaço em disco estão livres, e {wanted} GB deveriam continuar livres. Continua quando houver 1 GB a mais que isso.</translation>
    </message>
    <message>
        <source>cannot tell how much disk is free. Check that the store's folder is there.</source>
        <translation>não dá para saber quanto do disco está livre. Confira se a pasta de armazenamento está lá.</translation>
    </message>
    <message>
        <source>the store holds {used} GB of at most {most} GB. Resumes when it has been trimmed; its limit is in Settings, Storage.</source>
        <translation>o armazenamento tem {used} GB de no máximo {most} GB. Continua quando tiver sido reduzido; o limite fica em Configurações, Armazenamento.</translation>
    </message>
    <message>
        <source>the computer runs on battery. Resumes on mains power.</source>
        <translation>o computador está na bateria. Continua na tomada.</translation>
    </message>
    <message>
        <source>cannot tell whether the computer runs on battery. See Health in Activity, or allow lending on battery in Settings, When to lend.</source>
        <translation>não dá para saber se o computador está na bateria. Veja Saúde em Atividade, ou permita emprestar na bateria em Configurações, Quando emprestar.</translation>
    </message>
    <message>
        <source>cannot tell whether the computer saves power. See Health in Activity, or allow that in Settings, When to lend.</source>
        <translation>não dá para saber se o computador economiza energia. Veja Saúde em Atividade, ou permita isso em Configurações, Quando emprestar.</translation>
    </message>
    <message>
        <source>the hardware probe does not answer. Resumes when it does; see Health in Activity.</source>
        <translation>a sonda de hardware não responde. Continua quando ela responder; veja Saúde em Atividade.</translation>
    </message>
    <message>
        <source>the hardware is being checked. Resumes in a moment.</source>
        <translation>o hardware está sendo verificado. Continua em instantes.</translation>
    </message>
    <message>
        <source>power saving is on. Resumes when it is turned off.</source>
        <translation>a economia de energia está ligada. Continua quando for desligada.</translation>
    </message>
    <message>
        <source>{device} is at {degrees} °C, above your limit of {limit} °C. Resumes when it is 5 °C below the limit.</source>
        <translation>{device} está a {degrees} °C, acima do seu limite de {limit} °C. Continua quando estiver 5 °C abaixo do limite.</translation>
    </message>
    <message>
        <source>a game is running ({program}). Resumes 60 s after it closes.</source>
        <translation>um jogo está rodando ({program}). Continua 60 s depois de fechar.</translation>
    </message>
    <message>
        <source>a game is fullscreen ({program}). Resumes 60 s after it closes.</source>
        <translation>um jogo está em tela cheia ({program}). Continua 60 s depois de fechar.</translation>
    </message>
    <message>
        <source>a film is fullscreen ({program}). Resumes 60 s after it closes.</source>
        <translation>um filme está em tela cheia ({program}). Continua 60 s depois de fechar.</translation>
    </message>
    <message>
        <source>{program} is running, and you want nothing lent beside it. Resumes 60 s after it closes.</source>
        <translation>{program} está rodando, e você não quer nada emprestado junto. Continua 60 s depois de fechar.</translation>
    </message>
    <message>
        <source>a game or another exclusive program has just closed. Resumes {until}.</source>
        <translation>um jogo ou outro programa exclusivo acabou de fechar. Continua {until}.</translation>
    </message>
    <message>
        <source>outside the hours in which you lend. Resumes {until}.</source>
        <translation>fora das horas em que você empresta. Continua {until}.</translation>
    </message>
    <message>
        <source>no hour of the week is chosen. Choose some in Settings, When to lend.</source>
        <translation>nenhuma hora da semana foi escolhida. Escolha algumas em Configurações, Quando emprestar.</translation>
    </message>
    <message>
        <source>this month's {gb} GB of traffic are used up. Resumes {until}.</source>
        <translation>os {gb} GB de tráfego deste mês acabaram. Continua {until}.</translation>
    </message>
    <message>
        <source>this network is metered. Resumes on another network.</source>
        <translation>esta conexão é limitada. Continua em outra rede.</translation>
    </message>
    <message>
        <source>cannot tell whether this network is metered. See Health in Activity, or allow metered networks in Settings, Network.</source>
        <translation>não dá para saber se esta conexão é limitada. Veja Saúde em Atividade, ou permita conexões limitadas em Configurações, Rede.</translation>
    </message>
    <message>
        <source>you are using the computer. Resumes after {minutes} min without input.</source>
        <translation>você está usando o computador. Continua após {minutes} min sem atividade.</translation>
    </message>
    <message>
        <source>cannot tell whether you are away. See Health in Activity.</source>
        <translation>não dá para saber se você saiu. Veja Saúde em Atividade.</translation>
    </message>
    <message>
        <source>cannot tell whether you are away: nothing is known of your session. Resumes when its probes answer; see Health in Activity.</source>
        <translation>não dá para saber se você saiu: nada se sabe da sua sessão. Continua quando as sondas dela responderem; veja Saúde em Atividade.</translation>
    </message>
    <message>
        <source>cannot tell when you last touched the computer. Resumes when it is locked; see Health in Activity.</source>
        <translation>não dá para saber quando você mexeu no computador pela última vez. Continua quando ele for bloqueado; veja Saúde em Atividade.</translation>
    </message>
    <message>
        <source>cannot tell whether a program fills the screen. Resumes when the computer is locked; see Health in Activity, or switch off pausing for games in Settings, When to lend.</source>
        <translation>não dá para saber se um programa ocupa a tela. Continua quando o computador for bloqueado; veja Saúde em Atividade, ou desligue a pausa para jogos em Configurações, Quando emprestar.</translation>
    </message>
    <message>
        <source>cannot tell whether a game is running. See Health in Activity, or switch off pausing for games in Settings, When to lend.</source>
        <translation>não dá para saber se um jogo está rodando. Veja Saúde em Atividade, ou desligue a pausa para jogos em Configurações, Quando emprestar.</translation>
    </message>
    <message>
        <source>cannot tell whether one of your exclusive programs is running. See Health in Activity, or empty their list in Settings, When to lend.</source>
        <translation>não dá para saber se um dos seus programas exclusivos está rodando. Veja Saúde em Atividade, ou esvazie a lista deles em Configurações, Quando emprestar.</translation>
    </message>
    <message>
        <source>another user is using this computer. Resumes when they have logged out.</source>
        <translation>outro usuário está usando este computador. Continua quando ele encerrar a sessão.</translation>
    </message>
    <message>
        <source>other programs are using {percent}% of {device}. Resumes 60 s after they finish.</source>
        <translation>outros programas estão usando {percent}% de {device}. Continua 60 s depois que terminarem.</translation>
    </message>
    <message>
        <source>other programs needed {device}. Resumes {until}.</source>
        <translation>outros programas precisaram de {device}. Continua {until}.</translation>
    </message>
    <message>
        <source>other programs are using {percent}% of your CPU. Resumes below {below}%.</source>
        <translation>outros programas estão usando {percent}% da sua CPU. Continua abaixo de {below}%.</translation>
    </message>
    <message>
        <source>cannot tell how much CPU other programs use. See Health in Activity, or set that limit to 100% in Settings, When to lend.</source>
        <translation>não dá para saber quanto da CPU outros programas usam. Veja Saúde em Atividade, ou ponha esse limite em 100% em Configurações, Quando emprestar.</translation>
    </message>
    <message>
        <source>{device} has {free} GB of memory free and training needs {wanted} GB. Resumes when other programs give it back.</source>
        <translation>{device} tem {free} GB de memória livre, e o treinamento exige {wanted} GB. Continua quando outros programas a devolverem.</translation>
    </message>
    <message>
        <source>cannot tell what the graphics cards do: their probe does not answer. Resumes when it does; see Health in Activity.</source>
        <translation>não dá para saber o que as placas de vídeo fazem: a sonda delas não responde. Continua quando ela responder; veja Saúde em Atividade.</translation>
    </message>
    <message>
        <source>the graphics cards are being checked. Resumes in a moment.</source>
        <translation>as placas de vídeo estão sendo verificadas. Continua em instantes.</translation>
    </message>
    <message>
        <source>cannot tell how busy other programs keep {device}. See Health in Activity, or set that limit to 100% in Settings, When to lend.</source>
        <translation>não dá para saber o quanto outros programas ocupam {device}. Veja Saúde em Atividade, ou ponha esse limite em 100% em Configurações, Quando emprestar.</translation>
    </message>
    <message>
        <source>cannot tell how much memory of {device} is free. See Health in Activity.</source>
        <translation>não dá para saber quanta memória de {device} está livre. Veja Saúde em Atividade.</translation>
    </message>
    <message>
        <source>training was slowed down: another program needs the device. Resumes {until}.</source>
        <translation>o treinamento foi desacelerado: outro programa precisa do dispositivo. Continua {until}.</translation>
    </message>
    <message>
        <source>in {seconds} s</source>
        <translation>em {seconds} s</translation>
    </message>
    <message>
        <source>in {minutes} min</source>
        <translation>em {minutes} min</translation>
    </message>
    <message>
        <source>at {time}</source>
        <translation>às {time}</translation>
    </message>
    <message>
        <source>on {weekday} at {time}</source>
        <translation>{weekday} às {time}</translation>
    </message>
    <message>
        <source>on {date} at {time}</source>
        <translation>em {date} às {time}</translation>
    </message>
    <message>
        <source>Started, version {version}.</source>
        <translation>Iniciado, versão {version}.</translation>
    </message>
    <message>
        <source>Your settings were changed.</source>
        <translation>Suas configurações foram mudadas.</translation>
    </message>
    <message>
        <source>Joined the run {run}.</source>
        <translation>Entrou no treinamento {run}.</translation>
    </message>
    <message>
        <source>Left the run {run}.</source>
        <translation>Saiu do treinamento {run}.</translation>
    </message>
    <message>
        <source>The run {run} has ended.</source>
        <translation>O treinamento {run} terminou.</translation>
    </message>
    <message>
        <source>{run}, round {round}: your work was accepted, for {points} points.</source>
        <translation>{run}, rodada {round}: seu trabalho foi aceito, por {points} pontos.</translation>
    </message>
    <message>
        <source>{run}, round {round}: {points} points for checking others' work.</source>
        <translation>{run}, rodada {round}: {points} pontos por verificar o trabalho dos outros.</translation>
    </message>
    <message>
        <source>{run}, round {round}: {points} points that another key shared with yours.</source>
        <translation>{run}, rodada {round}: {points} pontos que outra chave compartilhou com a sua.</translation>
    </message>
    <message>
        <source>{run}, round {round}: you were not asked to do anything that earns points.</source>
        <translation>{run}, rodada {round}: não pediram a você nada que renda pontos.</translation>
    </message>
    <message>
        <source>{run}, round {round}: too few witnesses received your work in time. This does not count against you.</source>
        <translation>{run}, rodada {round}: poucas testemunhas receberam seu trabalho a tempo. Isso não conta contra você.</translation>
    </message>
    <message>
        <source>{run}, round {round}: the round ended without your work.</source>
        <translation>{run}, rodada {round}: a rodada terminou sem seu trabalho.</translation>
    </message>
    <message>
        <source>{run}, round {round}: the round is void, and its work is assigned again.</source>
        <translation>{run}, rodada {round}: a rodada é nula, e o trabalho dela é distribuído de novo.</translation>
    </message>
    <message>
        <source>{run}, round {round}: the witnesses refused your work ({reason}).</source>
        <translation>{run}, rodada {round}: as testemunhas recusaram seu trabalho ({reason}).</translation>
    </message>
    <message>
        <source>{run}, round {round}: {points} points for repeating another volunteer's work of round {audited}.</source>
        <translation>{run}, rodada {round}: {points} pontos por repetir o trabalho de outro voluntário da rodada {audited}.</translation>
    </message>
    <message>
        <source>{run}, round {round}: the round ended without your audit.</source>
        <translation>{run}, rodada {round}: a rodada terminou sem sua auditoria.</translation>
    </message>
    <message>
        <source>You were chosen to repeat another volunteer's work of round {round}. This computer could not: {declined}. You are not asked again for a while; your training goes on.</source>
        <translation>Você foi escolhido para repetir o trabalho de outro voluntário da rodada {round}. Este computador não conseguiu: {declined}. Não vão pedir isso a você por um tempo; seu treinamento continua.</translation>
    </message>
    <message>
        <source>Another volunteer repeated your work of round {round}. It counts, but the results differ slightly more than usual. Unusual hardware can cause this. To be sure, measure your device again in Hardware.</source>
        <translation>Outro voluntário repetiu seu trabalho da rodada {round}. Ele conta, mas os resultados diferem um pouco mais do que o normal. Hardware incomum pode ser a causa. Para ter certeza, meça seu dispositivo de novo em Hardware.</translation>
    </message>
    <message>
        <source>Your key is now {standing}. Other volunteers repeated the same work in an audit and got other results than you. Often the computer is at fault: measure its device again in Hardware, update the graphics driver, and test the memory (RAM). If that finds nothing, you can appeal in Settings, Account and keys.</source>
        <translation>Situação da sua chave agora: {standing}. Outros voluntários repetiram o mesmo trabalho em uma auditoria e obtiveram resultados diferentes dos seus. Muitas vezes a culpa é do computador: meça o dispositivo de novo em Hardware, atualize o driver de vídeo e teste a memória (RAM). Se isso não encontrar nada, você pode recorrer em Configurações, Conta e chaves.</translation>
    </message>
    <message>
        <source>The ledger says that you have {ledger} points, but its log proves {proven}. What is not proven is not counted here.</source>
        <translation>O registro diz que você tem {ledger} pontos, mas o log dele prova {proven}. O que não está provado não conta aqui.</translation>
    </message>
    <message>
        <source>{run}: downloaded and verified the model from round {round}.</source>
        <translation>{run}: o modelo da rodada {round} foi baixado e verificado.</translation>
    </message>
    <message>
        <source>Your key is now {standing}.</source>
        <translation>Situação da sua chave agora: {standing}.</translation>
    </message>
    <message>
        <source>Your key is now {standing}. Reason: {cause}. If that is wrong, you can appeal in Settings, Account and keys.</source>
        <translation>Situação da sua chave agora: {standing}. Motivo: {cause}. Se isso estiver errado, você pode recorrer em Configurações, Conta e chaves.</translation>
    </message>
    <message>
        <source>The network cannot be reached. Work goes on without it for a while.</source>
        <translation>A rede não pode ser alcançada. O trabalho continua sem ela por um tempo.</translation>
    </message>
    <message>
        <source>The ledger can be reached again.</source>
        <translation>O registro pode ser alcançado de novo.</translation>
    </message>
    <message>
        <source>The ledger shows another log than before ({problem}). Its answers are no longer trusted.</source>
        <translation>O registro mostra um log diferente do de antes ({problem}). As respostas dele não são mais confiáveis.</translation>
    </message>
    <message>
        <source>The training program stopped unexpectedly and was restarted.</source>
        <translation>O programa de treinamento parou inesperadamente e foi reiniciado.</translation>
    </message>
    <message>
        <source>A file was damaged or belongs to another program. It was kept as {file}, and a new one was started.</source>
        <translation>Um arquivo estava danificado ou pertence a outro programa. Ele foi guardado como {file}, e um novo foi iniciado.</translation>
    </message>
    <message>
        <source>This computer's clock was changed by {seconds} s.</source>
        <translation>O relógio deste computador foi mudado em {seconds} s.</translation>
    </message>
    <message>
        <source>It is not known yet whether other computers can connect to this one.</source>
        <translation>Ainda não se sabe se outros computadores podem se conectar a este.</translation>
    </message>
    <message>
        <source>Other computers can connect to this one.</source>
        <translation>Outros computadores podem se conectar a este.</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, because your router is in between. Nothing is lost: your work travels through seeds. To change it, let Tequio open a port on the router in Settings, Network, or forward TCP port {port} to this computer there.</source>
        <translation>Outros computadores não podem se conectar a este, porque seu roteador está no caminho. Nada se perde: seu trabalho passa por seeds. Para mudar isso, deixe o Tequio abrir uma porta no roteador em Configurações, Rede, ou redirecione nele a porta TCP {port} para este computador.</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, probably because of a firewall. Nothing is lost: your work travels through seeds. To change it, allow incoming connections to TCP port {port}.</source>
        <translation>Outros computadores não podem se conectar a este, provavelmente por causa de um firewall. Nada se perde: seu trabalho passa por seeds. Para mudar isso, permita conexões de entrada na porta TCP {port}.</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one yet. Tequio is asking your router to open a port.</source>
        <translation>Outros computadores ainda não podem se conectar a este. O Tequio está pedindo ao seu roteador que abra uma porta.</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, although your router has opened a port: another router or a firewall is in between. Nothing is lost: your work travels through seeds.</source>
        <translation>Outros computadores não podem se conectar a este, embora seu roteador tenha aberto uma porta: há outro roteador ou um firewall no caminho. Nada se perde: seu trabalho passa por seeds.</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, and no router answers by UPnP or NAT-PMP. Nothing is lost: your work travels through seeds. To change it, switch UPnP on in your router, or forward TCP port {port} to this computer there.</source>
        <translation>Outros computadores não podem se conectar a este, e nenhum roteador responde por UPnP ou NAT-PMP. Nada se perde: seu trabalho passa por seeds. Para mudar isso, ative o UPnP no seu roteador ou redirecione nele a porta TCP {port} para este computador.</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, and your router refused to open a port ({problem}). Nothing is lost: your work travels through seeds. To change it, forward TCP port {port} to this computer in your router.</source>
        <translation>Outros computadores não podem se conectar a este, e seu roteador se recusou a abrir uma porta ({problem}). Nada se perde: seu trabalho passa por seeds. Para mudar isso, redirecione no seu roteador a porta TCP {port} para este computador.</translation>
    </message>
    <message>
        <source>Other computers cannot connect to this one, because your router is behind another one: your provider's, or your building's. Nothing is lost: your work travels through seeds. Only your provider can change it, with a public address.</source>
        <translation>Outros computadores não podem se conectar a este, porque seu roteador está atrás de outro: o do seu provedor ou o do seu prédio. Nada se perde: seu trabalho passa por seeds. Só seu provedor pode mudar isso, com um endereço público.</translation>
    </message>
    <message>
        <source>Other members can still connect directly, when a seed introduces you to each other.</source>
        <translation>Outros membros ainda podem se conectar diretamente quando um seed apresenta vocês um ao outro.</translation>
    </message>
    <message>
        <source>Seeds cannot introduce you to other members, because your router gives each connection another port.</source>
        <translation>Os seeds não podem apresentar você a outros membros, porque seu roteador dá a cada conexão uma porta diferente.</translation>
    </message>
    <message>
        <source>An event that this version does not know ({code}).</source>
        <translation>Um evento que esta versão não conhece ({code}).</translation>
    </message>
    <message>
        <source>for a reason that this version does not know ({reason})</source>
        <translation>por um motivo que esta versão não conhece ({reason})</translation>
    </message>
    <message>
        <source>Pending</source>
        <translation>Pendente</translation>
    </message>
    <message>
        <source>Verified</source>
        <translation>Verificada</translation>
    </message>
    <message>
        <source>Rejected</source>
        <translation>Recusada</translation>
    </message>
    <message>
        <source>the round is void; its work is assigned again</source>
        <translation>a rodada é nula; o trabalho dela é distribuído de novo</translation>
    </message>
    <message>
        <source>the round ended without your work</source>
        <translation>a rodada terminou sem seu trabalho</translation>
    </message>
    <message>
        <source>too few witnesses received your work in time; this does not count against you</source>
        <translation>poucas testemunhas receberam seu trabalho a tempo; isso não conta contra você</translation>
    </message>
    <message>
        <source>you were not asked to do anything that earns points</source>
        <translation>não pediram a você nada que renda pontos</translation>
    </message>
    <message>
        <source>the round ended without your audit</source>
        <translation>a rodada terminou sem sua auditoria</translation>
    </message>
    <message>
        <source>the witnesses gave no reason</source>
        <translation>as testemunhas não deram motivo</translation>
    </message>
    <message>
        <source>the contribution had the wrong length</source>
        <translation>a contribuição tinha o tamanho errado</translation>
    </message>
    <message>
        <source>the contribution was not in the right format</source>
        <translation>a contribuição não estava no formato certo</translation>
    </message>
    <message>
        <source>the contribution was in a format of another version</source>
        <translation>a contribuição estava no formato de outra versão</translation>
    </message>
    <message>
        <source>the contribution did not have the shape of the model</source>
        <translation>a contribuição não tinha a forma do modelo</translation>
    </message>
    <message>
        <source>the contribution had marks that are not allowed</source>
        <translation>a contribuição tinha marcas não permitidas</translation>
    </message>
    <message>
        <source>the contribution was for another run</source>
        <translation>a contribuição era para outro treinamento</translation>
    </message>
    <message>
        <source>the contribution was for another round</source>
        <translation>a contribuição era para outra rodada</translation>
    </message>
    <message>
        <source>the work began from another version of the model</source>
        <translation>o trabalho partiu de outra versão do modelo</translation>
    </message>
    <message>
        <source>the contribution named another trainer</source>
        <translation>a contribuição indicava outro treinador</translation>
    </message>
    <message>
        <source>the work used other text than was given out</source>
        <translation>o trabalho usou um texto diferente do distribuído</translation>
    </message>
    <message>
        <source>the number of tokens was not what was given out</source>
        <translation>o número de tokens não era o distribuído</translation>
    </message>
    <message>
        <source>the number of steps was not what was given out</source>
        <translation>o número de passos não era o distribuído</translation>
    </message>
    <message>
        <source>the bytes were not those that were promised</source>
        <translation>os bytes não eram os prometidos</translation>
    </message>
    <message>
        <source>a scale in the contribution was not allowed</source>
        <translation>uma escala na contribuição não era permitida</translation>
    </message>
    <message>
        <source>the contribution had something where there must be nothing</source>
        <translation>a contribuição tinha algo onde não deve haver nada</translation>
    </message>
    <message>
        <source>a block of the contribution had too many or too few values</source>
        <translation>um bloco da contribuição tinha valores demais ou de menos</translation>
    </message>
    <message>
        <source>the contribution named a place outside of the model</source>
        <translation>a contribuição indicava um lugar fora do modelo</translation>
    </message>
    <message>
        <source>the places in the contribution were out of order</source>
        <translation>os lugares na contribuição estavam fora de ordem</translation>
    </message>
    <message>
        <source>a value in the contribution was not allowed</source>
        <translation>um valor na contribuição não era permitido</translation>
    </message>
    <message>
        <source>the contribution was empty</source>
        <translation>a contribuição estava vazia</translation>
    </message>
    <message>
        <source>the commitment was made without the contribution</source>
        <translation>o compromisso foi feito sem a contribuição</translation>
    </message>
    <message>
        <source>the contribution was far larger than the others</source>
        <translation>a contribuição era muito maior que as outras</translation>
    </message>
    <message>
        <source>the contribution pointed away from what the witnesses measured themselves</source>
        <translation>a contribuição se afastava do que as próprias testemunhas mediram</translation>
    </message>
    <message>
        <source>the contribution was nearly the same as an earlier one</source>
        <translation>a contribuição era quase igual a uma anterior</translation>
    </message>
    <message>
        <source>new</source>
        <translation>nova</translation>
    </message>
    <message>
        <source>active</source>
        <translation>ativa</translation>
    </message>
    <message>
        <source>under watch, and trains on as before</source>
        <translation>em observação, e continua treinando como antes</translation>
    </message>
    <message>
        <source>quarantined: it serves the swarm, and does not train until that is over</source>
        <translation>em quarentena: serve o enxame, e não treina até ela acabar</translation>
    </message>
    <message>
        <source>on probation, and trains again</source>
        <translation>em período probatório, e volta a treinar</translation>
    </message>
    <message>
        <source>banned, and in no roster any more</source>
        <translation>banida, e fora de todas as listas de participantes</translation>
    </message>
    <message>
        <source>revoked: it can do nothing more</source>
        <translation>revogada: não pode fazer mais nada</translation>
    </message>
    <message>
        <source>replaced by another key, and can do nothing more</source>
        <translation>substituída por outra chave, e não pode fazer mais nada</translation>
    </message>
    <message>
        <source>enough contributions were accepted</source>
        <translation>contribuições suficientes foram aceitas</translation>
    </message>
    <message>
        <source>signed two different commitments for one round</source>
        <translation>assinou dois compromissos diferentes para uma mesma rodada</translation>
    </message>
    <message>
        <source>signed two different statements under one number</source>
        <translation>assinou duas declarações diferentes com o mesmo número</translation>
    </message>
    <message>
        <source>signed a contribution header that breaks a rule</source>
        <translation>assinou um cabeçalho de contribuição que viola uma regra</translation>
    </message>
    <message>
        <source>committed to bytes that break a rule</source>
        <translation>comprometeu-se com bytes que violam uma regra</translation>
    </message>
    <message>
        <source>signed a witness proof without having been elected</source>
        <translation>assinou uma prova de testemunha sem ter sido eleita</translation>
    </message>
    <message>
        <source>signed an invalid witness proof</source>
        <translation>assinou uma prova de testemunha inválida</translation>
    </message>
    <message>
        <source>vouched for a contribution without having its bytes</source>
        <translation>atestou uma contribuição sem ter os seus bytes</translation>
    </message>
    <message>
        <source>a contribution was far from the others, according to two witnesses</source>
        <translation>uma contribuição estava longe das outras, segundo duas testemunhas</translation>
    </message>
    <message>
        <source>witness proofs were contradicted by the other witnesses</source>
        <translation>provas de testemunha foram contrariadas pelas outras testemunhas</translation>
    </message>
    <message>
        <source>the term of a quarantine is over</source>
        <translation>o prazo de uma quarentena acabou</translation>
    </message>
    <message>
        <source>no organiser answered an appeal in time</source>
        <translation>nenhum organizador respondeu a um recurso a tempo</translation>
    </message>
    <message>
        <source>accused somebody of a fault that the evidence does not show</source>
        <translation>acusou alguém de uma falta que a prova não mostra</translation>
    </message>
    <message>
        <source>a contribution was not the training that it claimed, as its auditors agree</source>
        <translation>uma contribuição não era o treinamento que dizia ser, como concordam os auditores dela</translation>
    </message>
    <message>
        <source>an audit was contradicted by the other auditors</source>
        <translation>uma auditoria foi contrariada pelos outros auditores</translation>
    </message>
    <message>
        <source>further audits were contradicted by the other auditors</source>
        <translation>outras auditorias foram contrariadas pelos outros auditores</translation>
    </message>
    <message>
        <source>was there, and did not open contributions to their auditors</source>
        <translation>estava presente e não abriu contribuições aos auditores delas</translation>
    </message>
    <message>
        <source>contributions did not help more on their own windows than on others, according to the witnesses of many rounds</source>
        <translation>contribuições não ajudaram mais nas próprias janelas do que em outras, segundo as testemunhas de muitas rodadas</translation>
    </message>
    <message>
        <source>it was not in the run in that round</source>
        <translation>ele não estava no treinamento naquela rodada</translation>
    </message>
    <message>
        <source>it has not read an earlier audit of that work</source>
        <translation>ele não leu uma auditoria anterior desse trabalho</translation>
    </message>
    <message>
        <source>it no longer has the model of that round, or its copy is damaged</source>
        <translation>ele não tem mais o modelo daquela rodada, ou a cópia dele está danificada</translation>
    </message>
    <message>
        <source>the data did not arrive in time</source>
        <translation>os dados não chegaram a tempo</translation>
    </message>
    <message>
        <source>the training program could not repeat it</source>
        <translation>o programa de treinamento não conseguiu repeti-lo</translation>
    </message>
    <message>
        <source>the disk could not be written</source>
        <translation>não foi possível gravar no disco</translation>
    </message>
    <message>
        <source>Auditing</source>
        <translation>Auditando</translation>
    </message>
    <message>
        <source>Repeating another volunteer's work of round {round}. You are paid as for training.</source>
        <translation>Repetindo o trabalho de outro voluntário da rodada {round}. Você recebe como pelo treinamento.</translation>
    </message>
</context>
</TS>
