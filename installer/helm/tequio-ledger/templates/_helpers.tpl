{{- define "ledger.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" (.Release.Name | trunc 26 | trimSuffix "-") .Chart.Name }}
{{- end -}}
{{- end -}}

{{- /* Labels that select pods; call with a list of the root and the component. */ -}}
{{- define "ledger.selector" -}}
app.kubernetes.io/name: tequio-ledger
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "ledger.labels" -}}
{{ include "ledger.selector" . }}
app.kubernetes.io/version: {{ (index . 0).Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ (index . 0).Release.Service }}
helm.sh/chart: {{ printf "%s-%s" (index . 0).Chart.Name (index . 0).Chart.Version }}
{{- end -}}

{{- define "ledger.hasDatabase" -}}
{{- if or .Values.database.secret .Values.postgresql.enabled }}yes{{ end -}}
{{- end -}}

{{- /* What all pods have in common. No service links: Kubernetes would set TEQUIO_LEDGER_PORT and its like for a
       Service of that name, and the ledger refuses variables that are not its settings. */ -}}
{{- define "ledger.pod" -}}
enableServiceLinks: false
automountServiceAccountToken: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
{{- end -}}

{{- /* The user of the image; call with its number. OnRootMismatch: otherwise every start would open the keys to the
       group of the volume, and the ledger refuses keys that others may read. */ -}}
{{- define "ledger.podSecurity" -}}
securityContext:
  runAsNonRoot: true
  runAsUser: {{ . }}
  runAsGroup: {{ . }}
  fsGroup: {{ . }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- end -}}

{{- define "ledger.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end -}}

{{- /* A claim for a volume; call with a dict of its storage values. */ -}}
{{- define "ledger.claim" -}}
metadata:
  name: data
spec:
  accessModes: [ReadWriteOnce]
  {{- with .className }}
  storageClassName: {{ . }}
  {{- end }}
  resources:
    requests:
      storage: {{ .size }}
{{- end -}}

{{- /* What a schema cannot say. */ -}}
{{- define "ledger.check" -}}
{{- if not .Values.settings.origin }}
{{- fail "settings.origin: name the log by an address of yours without a scheme, such as ledger.example/net1" }}
{{- end }}
{{- if not .Values.settings.organiser }}
{{- fail "settings.organiser: name the organisers' public keys, as `tequio run key` prints them" }}
{{- end }}
{{- if and .Values.database.secret .Values.postgresql.enabled }}
{{- fail "database.secret and postgresql.enabled exclude each other: the database is one of the two" }}
{{- end }}
{{- if gt (int .Values.replicas) 1 }}
{{- if not (include "ledger.hasDatabase" .) }}
{{- fail "more than one replica needs PostgreSQL: set database.secret" }}
{{- end }}
{{- if not .Values.blobs.url }}
{{- fail "more than one replica needs a place for blobs that all of them reach: set blobs.url" }}
{{- end }}
{{- if not .Values.keys.secret }}
{{- fail "more than one replica needs keys.secret: found the network with one, and copy its keys (docs/kubernetes.md)" }}
{{- end }}
{{- end }}
{{- end -}}
