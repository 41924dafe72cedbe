<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en_US">
<context>
    <name>Notifications</name>
    <message numerus="yes">
        <source>%n place(s) up since you were last told.</source>
        <translation>
            <numerusform>%n place up since you were last told.</numerusform>
            <numerusform>%n places up since you were last told.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n place(s) down since you were last told.</source>
        <translation>
            <numerusform>%n place down since you were last told.</numerusform>
            <numerusform>%n places down since you were last told.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ReportDialog</name>
    <message numerus="yes">
        <source>%n more fault(s) since</source>
        <translation>
            <numerusform>%n more fault since</numerusform>
            <numerusform>%n more faults since</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RoundCard</name>
    <message numerus="yes">
        <source>%n peer(s)</source>
        <translation>
            <numerusform>%n peer</numerusform>
            <numerusform>%n peers</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Stats</name>
    <message numerus="yes">
        <source>%n round(s) pending</source>
        <translation>
            <numerusform>%n round pending</numerusform>
            <numerusform>%n rounds pending</numerusform>
        </translation>
    </message>
</context>
</TS>
