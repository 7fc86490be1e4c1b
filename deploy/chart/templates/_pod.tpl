{{/*
Parts of pods. Names follow the release; each command is a component: run, letters or order.
*/}}

{{- define "oriel.name" -}}
{{- if gt (len .Release.Name) 53 }}{{ fail "the release's name must have at most 53 characters" }}{{ end -}}
{{ .Release.Name }}
{{- end }}

{{/* Labels that select the pods of a component: a list of the root and the component's name. */}}
{{- define "oriel.selector" -}}
app.kubernetes.io/name: oriel
app.kubernetes.io/instance: {{ include "oriel.name" (index . 0) }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "oriel.labels" -}}
{{ include "oriel.selector" . }}
app.kubernetes.io/version: {{ (index . 0).Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ (index . 0).Release.Service }}
{{- end }}

{{/*
What values must have in common. An envFile that is not given cannot be looked at: `oriel run` says what is wrong then.
*/}}
{{- define "oriel.check" -}}
{{- $most := .Values.inputPartitions | int }}
{{- if and $most (gt (int .Values.replicas) $most) }}
{{- fail (printf "replicas is %d, and inputPartitions is %d: a process beyond it has nothing to do" (int .Values.replicas) $most) }}
{{- end }}
{{- with .Values.autoscaling }}
{{- if .enabled }}
{{- if not $most }}{{ fail "autoscaling.enabled needs inputPartitions: more processes help only where each partition is a stream" }}{{ end }}
{{- if or (gt (int .maxReplicas) $most) (le (int .maxReplicas) (int $.Values.replicas)) }}
{{- fail (printf "autoscaling.maxReplicas is %d: it must be above replicas, and at most inputPartitions, %d" (int .maxReplicas) $most) }}
{{- end }}
{{- end }}
{{- end }}
{{- $other := eq (include "oriel.setting" (list . .Values.env "ORIEL_SEQUENCER")) "other" }}
{{- if and $other (not .Values.order.enabled) }}
{{- fail "ORIEL_SEQUENCER=other needs order.enabled: without `oriel order` the stream stands still" }}
{{- end }}
{{- if and .Values.order.enabled (not $other) }}
{{- fail "order.enabled needs ORIEL_SEQUENCER=other, in envFile or in env: without it every process writes the order itself" }}
{{- end }}
{{- range $env := list .Values.env .Values.letters.env .Values.order.env }}
{{- $named := include "oriel.setting" (list $ $env "ORIEL_NAME") }}
{{- if and $named (ne $named (include "oriel.name" $)) }}
{{- fail (printf "ORIEL_NAME is %s, and the release is %s: alerts and labels find a deployment by its release, so both must be equal" $named (include "oriel.name" $)) }}
{{- end }}
{{- end }}
{{- if and .Values.files (not .Values.envFile) }}{{ fail "files needs envFile: without it the ConfigMap is yours" }}{{ end }}
{{- end }}

{{/*
A setting as a process gets it, or nothing: a list of the root, the settings of a component, and the setting's name.
*/}}
{{- define "oriel.setting" -}}
{{- $values := (index . 0).Values }}{{ $name := index . 2 }}
{{- if hasKey (index . 1) $name }}{{ index (index . 1) $name }}
{{- else if hasKey $values.env $name }}{{ index $values.env $name }}
{{- else }}
{{- $line := regexFind (printf "(?m)^[ \\t]*%s=.*$" $name) $values.envFile | trim | trimPrefix (printf "%s=" $name) }}
{{- regexReplaceAll "^(?:'([^']*)'|\"([^\"]*)\")(?:[ \\t].*)?$" $line "${1}${2}" }}
{{- end }}
{{- end }}

{{/* The volumes of a component: a list of the root and its Secret's name. */}}
{{- define "oriel.volumes" -}}
- name: settings
  configMap:
    name: {{ include "oriel.name" (index . 0) }}
- name: secrets
  secret:
    secretName: {{ index . 1 }}
    defaultMode: 0440
{{- end }}

{{/* A container: a dict of root, command, env (settings of this component) and state (whether it mounts the state). */}}
{{- define "oriel.container" -}}
name: {{ .command }}
image: "{{ .root.Values.image.repository }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}"
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
args: ["--env-file", "/etc/oriel/oriel.env", {{ .command | quote }}]
env:
{{- $env := dict "ORIEL_MASTER_KEY_FILE" "/run/secrets/oriel/master.key" }}
{{- if .state }}
{{- $env = merge $env (dict "ORIEL_STATE_DIR" "/var/lib/oriel" "ORIEL_HTTP_ADDR" "0.0.0.0:9464") }}
{{- end }}
{{- $env = mergeOverwrite $env (deepCopy .root.Values.env) (deepCopy .env) }}
{{- range $name, $value := $env }}
  - name: {{ $name }}
    value: {{ $value | quote }}
{{- end }}
resources:
  {{- toYaml .root.Values.resources | nindent 2 }}
securityContext:
  {{- toYaml .root.Values.securityContext | nindent 2 }}
volumeMounts:
  - name: settings
    mountPath: /etc/oriel
    readOnly: true
  - name: secrets
    mountPath: /run/secrets/oriel
    readOnly: true
{{- if .state }}
  - name: state
    mountPath: /var/lib/oriel
{{- end }}
{{- end }}

{{/* What pods of all components have: a list of the root and the component's name. */}}
{{- define "oriel.metadata" -}}
labels:
  {{- include "oriel.labels" . | nindent 2 }}
{{- $root := index . 0 }}
annotations:
  {{- if $root.Values.envFile }}
  # Changed settings start the processes again.
  checksum/settings: {{ include (print $root.Template.BasePath "/configmap.yaml") $root | sha256sum }}
  {{- end }}
  {{- with $root.Values.podAnnotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{- define "oriel.spec" -}}
serviceAccountName: {{ include "oriel.name" . }}
automountServiceAccountToken: false
enableServiceLinks: false
# Time to finish the open transaction.
terminationGracePeriodSeconds: 30
securityContext:
  {{- toYaml .Values.podSecurityContext | nindent 2 }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
