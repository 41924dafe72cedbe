<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en">
<context>
    <name>BadgesCard</name>
    <message numerus="yes">
        <source>Current streak: %n day(s) in a row with accepted work.</source>
        <translation>
            <numerusform>Current streak: %n day in a row with accepted work.</numerusform>
            <numerusform>Current streak: %n days in a row with accepted work.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>CompetitionChoice</name>
    <message numerus="yes">
        <source>%n entrant(s)</source>
        <translation>
            <numerusform>%n entrant</numerusform>
            <numerusform>%n entrants</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>CompetitionNotifier</name>
    <message numerus="yes">
        <source>This computer scores %n model(s) when it may lend.</source>
        <translation>
            <numerusform>This computer scores %n model when it may lend.</numerusform>
            <numerusform>This computer scores %n models when it may lend.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{name} and %n other(s)</source>
        <translation>
            <numerusform>{name} and %n other</numerusform>
            <numerusform>{name} and %n others</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>CostCard</name>
    <message numerus="yes">
        <source>%n hour(s)</source>
        <translation>
            <numerusform>%n hour</numerusform>
            <numerusform>%n hours</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>DeviceCard</name>
    <message numerus="yes">
        <source>%n core(s)</source>
        <translation>
            <numerusform>%n core</numerusform>
            <numerusform>%n cores</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ErrorReportDialog</name>
    <message numerus="yes">
        <source>%n more fault(s) since</source>
        <translation>
            <numerusform>%n more fault since</numerusform>
            <numerusform>%n more faults since</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>HealthView</name>
    <message numerus="yes">
        <source>All %n check(s) are working.</source>
        <translation>
            <numerusform>%n check is working.</numerusform>
            <numerusform>All %n checks are working.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n check(s) aren't working.</source>
        <translation>
            <numerusform>%n check isn't working.</numerusform>
            <numerusform>%n checks aren't working.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>InvitationDialog</name>
    <message numerus="yes">
        <source>%n use(s) left, valid until {until}.</source>
        <translation>
            <numerusform>%n use left, valid until {until}.</numerusform>
            <numerusform>%n uses left, valid until {until}.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n computers are in it now</source>
        <translation>
            <numerusform>%n computer is in it now</numerusform>
            <numerusform>%n computers are in it now</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Notifier</name>
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
    <name>PointsPage</name>
    <message numerus="yes">
        <source>%Ln round(s) written to {file}</source>
        <translation>
            <numerusform>%Ln round written to {file}</numerusform>
            <numerusform>%Ln rounds written to {file}</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ReadyStep</name>
    <message numerus="yes">
        <source>%n minute(s) after your last input. A key or the mouse stops it.</source>
        <translation>
            <numerusform>%n minute after your last input. A key or the mouse stops it.</numerusform>
            <numerusform>%n minutes after your last input. A key or the mouse stops it.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Immediately at {share} of the time, and fully %n minute(s) after your last input.</source>
        <translation>
            <numerusform>Immediately at {share} of the time, and fully %n minute after your last input.</numerusform>
            <numerusform>Immediately at {share} of the time, and fully %n minutes after your last input.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RoundCard</name>
    <message numerus="yes">
        <source>%Ln peer(s)</source>
        <translation>
            <numerusform>%Ln peer</numerusform>
            <numerusform>%Ln peers</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RulesCard</name>
    <message numerus="yes">
        <source>It has %n hour(s) from the opening of its run.</source>
        <translation>
            <numerusform>It has %n hour from the opening of its run.</numerusform>
            <numerusform>It has %n hours from the opening of its run.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RunChoice</name>
    <message numerus="yes">
        <source>%Ln volunteer(s)</source>
        <translation>
            <numerusform>%Ln volunteer</numerusform>
            <numerusform>%Ln volunteers</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RunDetail</name>
    <message numerus="yes">
        <source>The {left} left this month last for about %n day(s) of lending.</source>
        <translation>
            <numerusform>The {left} left this month last for about %n day of lending.</numerusform>
            <numerusform>The {left} left this month last for about %n days of lending.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>This run needs {needed} of memory, and this computer lends {most}. One computer with %n card(s) like this one could train it: start a worker there by {command}.</source>
        <translation>
            <numerusform>This run needs {needed} of memory, and this computer lends {most}. One computer with %n card like this one could train it: start a worker there by {command}.</numerusform>
            <numerusform>This run needs {needed} of memory, and this computer lends {most}. One computer with %n cards like this one could train it: start a worker there by {command}.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>This run needs {needed} of memory, and this computer lends {most}. %n computer(s) like this one could train it together: open a cell with others in your network by {command}.</source>
        <translation>
            <numerusform>This run needs {needed} of memory, and this computer lends {most}. %n computer like this one could train it: open a cell with others in your network by {command}.</numerusform>
            <numerusform>This run needs {needed} of memory, and this computer lends {most}. %n computers like this one could train it together: open a cell with others in your network by {command}.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RunNewsTexts</name>
    <message numerus="yes">
        <source>You earned {points} points in %Ln accepted round(s).</source>
        <translation>
            <numerusform>You earned {points} points in %Ln accepted round.</numerusform>
            <numerusform>You earned {points} points in %Ln accepted rounds.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>RunStep</name>
    <message numerus="yes">
        <source>%Ln volunteer(s)</source>
        <translation>
            <numerusform>%Ln volunteer</numerusform>
            <numerusform>%Ln volunteers</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SideRow</name>
    <message numerus="yes">
        <source>%Ln volunteer(s)</source>
        <translation>
            <numerusform>%Ln volunteer</numerusform>
            <numerusform>%Ln volunteers</numerusform>
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
    <message numerus="yes">
        <source>of %Ln volunteer(s)</source>
        <translation>
            <numerusform>of %Ln volunteer</numerusform>
            <numerusform>of %Ln volunteers</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>TeamDialog</name>
    <message numerus="yes">
        <source>%n member(s)</source>
        <translation>
            <numerusform>%n member</numerusform>
            <numerusform>%n members</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>checks</name>
    <message numerus="yes">
        <source>The network answers, and %n run(s) are open.</source>
        <translation>
            <numerusform>The network answers, and %n run is open.</numerusform>
            <numerusform>The network answers, and %n runs are open.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>figures</name>
    <message numerus="yes">
        <source>%n byte(s)</source>
        <translation>
            <numerusform>%n byte</numerusform>
            <numerusform>%n bytes</numerusform>
        </translation>
    </message>
</context>
</TS>
