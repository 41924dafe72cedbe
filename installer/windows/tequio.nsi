; Installs Tequio for one user, without an administrator; compiled by installer/windows/build.sh.
;   Tequio-Setup-VERSION.exe [/S] [/LOGIN] [/D=C:\folder]   /S: no questions; /LOGIN: start at login
;   uninstall.exe [/S] [/DELETEDATA]                         without it, /S keeps key and data
; Names below are those of client/tequio_client/app/registration.py: the app writes the same values.

Unicode true
!ifdef TEST
  Target amd64-unicode  ; for wine64, which runs nothing else
!else
  Target x86-unicode  ; the only one of NSIS for Windows
!endif
!include MUI2.nsh
!include LogicLib.nsh
!include FileFunc.nsh
!include Sections.nsh

!define NAME "Tequio"
!define RUN_KEY "Software\Microsoft\Windows\CurrentVersion\Run"
!define UNINSTALL_KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\Tequio"
!define SCHEME_KEY "Software\Classes\tequio"
!define APP "$INSTDIR\tequio-app.exe"
!define COMMAND '"${APP}" app'
; What platformdirs gives the programs: key, store and settings; updates and runtimes beside them.
!define DATA "$LOCALAPPDATA\tequio\tequio"

Name "${NAME}"
OutFile "${OUT}"
InstallDir "$LOCALAPPDATA\Programs\Tequio"
InstallDirRegKey HKCU "${UNINSTALL_KEY}" "InstallLocation"
RequestExecutionLevel user
!ifdef TEST
  SetCompressor zlib
!else
  SetCompressor /SOLID lzma
!endif
SetDateSave off  ; two builds of one commit are the same: the files get the time when they are installed
ManifestDPIAware true
VIProductVersion "${VERSION}.0"
VIAddVersionKey "ProductName" "${NAME}"
VIAddVersionKey "ProductVersion" "${VERSION}"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "FileDescription" "${NAME} installer"
VIAddVersionKey "LegalCopyright" "Tequio contributors, Apache License 2.0"

BrandingText "${NAME} ${VERSION}"
!define ICON "${ICONS}/tequio.ico"
!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!define MUI_WELCOMEFINISHPAGE_BITMAP "${ICONS}/side.bmp"
!define MUI_COMPONENTSPAGE_NODESC
!define MUI_FINISHPAGE_RUN "${APP}"
!define MUI_FINISHPAGE_NOREBOOTSUPPORT

!insertmacro MUI_PAGE_COMPONENTS
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"
!insertmacro MUI_LANGUAGE "French"
!insertmacro MUI_LANGUAGE "German"
!insertmacro MUI_LANGUAGE "PortugueseBR"
!insertmacro MUI_LANGUAGE "Spanish"

LangString RUNNING ${LANG_ENGLISH} "Tequio is running. Choose Quit in its tray menu, then try again."
LangString RUNNING ${LANG_FRENCH} "Tequio est ouvert. Choisissez Quitter dans le menu de son icône de notification, puis réessayez."
LangString RUNNING ${LANG_GERMAN} "Tequio läuft. Wähle Beenden im Menü seines Symbols im Infobereich und versuche es dann noch einmal."
LangString RUNNING ${LANG_PORTUGUESEBR} "O Tequio está aberto. Escolha Sair no menu da bandeja e tente de novo."
LangString RUNNING ${LANG_SPANISH} "Tequio está abierto. Elige Salir en su menú de la bandeja y vuelve a intentarlo."
LangString LOGIN ${LANG_ENGLISH} "Start at login"
LangString LOGIN ${LANG_FRENCH} "Lancer à l’ouverture de session"
LangString LOGIN ${LANG_GERMAN} "Beim Anmelden starten"
LangString LOGIN ${LANG_PORTUGUESEBR} "Iniciar ao entrar na sessão"
LangString LOGIN ${LANG_SPANISH} "Abrir al iniciar sesión"
LangString DELETE_DATA ${LANG_ENGLISH} "Delete your key and data, too?$\n$\n${DATA}$\n$\nWithout a backup (24 words or a file) a deleted key is lost, with its points."
LangString DELETE_DATA ${LANG_FRENCH} "Supprimer aussi votre clé et vos données ?$\n$\n${DATA}$\n$\nSans sauvegarde (24 mots ou un fichier), une clé supprimée est perdue, avec ses points."
LangString DELETE_DATA ${LANG_GERMAN} "Auch deinen Schlüssel und deine Daten löschen?$\n$\n${DATA}$\n$\nOhne Sicherung (24 Wörter oder eine Datei) ist ein gelöschter Schlüssel mitsamt seinen Punkten verloren."
LangString DELETE_DATA ${LANG_PORTUGUESEBR} "Excluir também sua chave e seus dados?$\n$\n${DATA}$\n$\nSem um backup (24 palavras ou um arquivo), uma chave excluída se perde, com seus pontos."
LangString DELETE_DATA ${LANG_SPANISH} "¿Borrar también tu clave y tus datos?$\n$\n${DATA}$\n$\nSin una copia de seguridad (24 palabras o un archivo), una clave borrada se pierde con sus puntos."

; A program that runs cannot be written to.
!macro FAIL_IF_RUNNING PROGRAM
  ${If} ${FileExists} "${PROGRAM}"
    ClearErrors
    FileOpen $0 "${PROGRAM}" a
    ${If} ${Errors}
      MessageBox MB_OK|MB_ICONEXCLAMATION "$(RUNNING)" /SD IDOK
      SetErrorLevel 2
      Abort
    ${EndIf}
    FileClose $0
  ${EndIf}
!macroend

Section "${NAME}" SECTION_APP
  SectionIn RO
  !insertmacro FAIL_IF_RUNNING "$INSTDIR\tequio.exe"
  !insertmacro FAIL_IF_RUNNING "${APP}"
  RMDir /r "$INSTDIR\_internal"  ; of an older version
  SetOutPath "$INSTDIR"
  File /r "${FOLDER}/*"
  File "${ICON}"
  WriteUninstaller "$INSTDIR\uninstall.exe"
  CreateShortcut "$SMPROGRAMS\${NAME}.lnk" "${APP}" "" "$INSTDIR\tequio.ico"

  WriteRegStr HKCU "${SCHEME_KEY}" "" "URL:${NAME}"
  WriteRegStr HKCU "${SCHEME_KEY}" "URL Protocol" ""
  WriteRegStr HKCU "${SCHEME_KEY}\DefaultIcon" "" "$INSTDIR\tequio.ico"
  ; The dashes, because a link may contain a quotation mark, and options behind it.
  WriteRegStr HKCU "${SCHEME_KEY}\shell\open\command" "" '${COMMAND} -- "%1"'

  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayName" "${NAME}"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayIcon" "$INSTDIR\tequio.ico"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "Publisher" "Tequio contributors"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${UNINSTALL_KEY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoModify" 1
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoRepair" 1
  ${GetSize} "$INSTDIR" "/S=0K" $0 $1 $2
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "EstimatedSize" $0
SectionEnd

; Off until chosen: the app asks in its first steps, too, and has a switch in its settings.
Section /o "$(LOGIN)" SECTION_LOGIN
  WriteRegStr HKCU "${RUN_KEY}" "${NAME}" '${COMMAND} --background'
SectionEnd

Function .onInit
  ${GetParameters} $0
  ClearErrors
  ${GetOptions} $0 "/LOGIN" $1
  ${IfNot} ${Errors}
    SectionSetFlags ${SECTION_LOGIN} ${SF_SELECTED}
  ${EndIf}
FunctionEnd

Section "Uninstall"
  !insertmacro FAIL_IF_RUNNING "$INSTDIR\tequio.exe"
  !insertmacro FAIL_IF_RUNNING "${APP}"
  Delete "$SMPROGRAMS\${NAME}.lnk"
  DeleteRegValue HKCU "${RUN_KEY}" "${NAME}"
  DeleteRegValue HKCU "Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run" "${NAME}"
  DeleteRegKey HKCU "${SCHEME_KEY}"
  DeleteRegKey HKCU "${UNINSTALL_KEY}"
  RMDir /r "$INSTDIR\_internal"
  Delete "$INSTDIR\tequio.exe"
  Delete "${APP}"
  Delete "$INSTDIR\tequio.ico"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
  ; Programs that updates brought, not data.
  RMDir /r "${DATA}\app"
  RMDir /r "${DATA}\runtime"
  ${GetParameters} $0
  ClearErrors
  ${GetOptions} $0 "/DELETEDATA" $1
  ${If} ${Errors}
    MessageBox MB_YESNO|MB_ICONQUESTION|MB_DEFBUTTON2 "$(DELETE_DATA)" /SD IDNO IDNO keep
  ${EndIf}
  RMDir /r "${DATA}"
  keep:
  RMDir "$LOCALAPPDATA\tequio"  ; if empty
SectionEnd
