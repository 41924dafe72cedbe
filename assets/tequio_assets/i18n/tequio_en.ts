<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en_US">
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
<context>
    <name>remedies</name>
    <message numerus="yes">
        <source>%n statement(s) wait here for it.</source>
        <translation>
            <numerusform>%n statement waits here for it.</numerusform>
            <numerusform>%n statements wait here for it.</numerusform>
        </translation>
    </message>
</context>
</TS>
