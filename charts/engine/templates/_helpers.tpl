{{- define "engine.worker" -}}
{{- printf "%s-worker" .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "engine.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (include "engine.worker" .) -}}
{{- end -}}

{{- define "engine.certificate" -}}
{{- .Values.worker.serve.certificateSecret | default (printf "%s-cert" (include "engine.worker" .)) -}}
{{- end -}}

{{- define "engine.selector" -}}
app.kubernetes.io/part-of: gpustack-operator
app.kubernetes.io/component: operator
app.kubernetes.io/name: {{ include "engine.worker" . }}
{{- end -}}

{{/* Labels of every object: one map, so that a common label never comes twice; the chart's own win. */}}
{{- define "engine.labels" -}}
{{- $own := dict
  "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63)
  "app.kubernetes.io/managed-by" .Release.Service
  "app.kubernetes.io/instance" .Release.Name
  "app.kubernetes.io/version" .Chart.AppVersion
  "app.kubernetes.io/part-of" "gpustack-operator"
  "app.kubernetes.io/component" "operator"
  "app.kubernetes.io/name" (include "engine.worker" .) -}}
{{- toYaml (merge $own .Values.commonLabels) -}}
{{- end -}}

{{- define "engine.metadata" -}}
labels:
  {{- include "engine.labels" . | nindent 2 }}
{{- with .Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The first part of a repository is a registry when it holds a dot or a colon. */}}
{{- define "engine.image" -}}
{{- $image := merge (deepCopy .Values.worker.image) .Values.image -}}
{{- $parts := splitList "/" $image.repository -}}
{{- $registry := "" -}}
{{- if and (gt (len $parts) 1) (regexMatch "[.:]" (first $parts)) -}}
{{- $registry = first $parts -}}
{{- $parts = rest $parts -}}
{{- end -}}
{{- with .Values.global.imageRegistry }}{{- $registry = . }}{{- end -}}
{{- with .Values.global.imageNamespace }}{{- $parts = list . (last $parts) }}{{- end -}}
{{- $path := join "/" $parts -}}
{{- with $registry }}{{- $path = printf "%s/%s" . $path }}{{- end -}}
{{- printf "%s:%s" $path ($image.tag | default (printf "v%s" .Chart.AppVersion)) -}}
{{- end -}}

{{- define "engine.pullPolicy" -}}
{{- $image := merge (deepCopy .Values.worker.image) .Values.image -}}
{{- .Values.global.imagePullPolicy | default $image.pullPolicy -}}
{{- end -}}

{{/* The index that `make chart` writes, without the packs of manufacturers that were left out. */}}
{{- define "engine.packs" -}}
{{- $index := .Files.Get "files/packs/index.yaml" -}}
{{- if not $index }}{{- fail "the chart holds no packs: run `make chart` in the checkout first" }}{{- end -}}
{{- $packs := list -}}
{{- range (fromYaml $index).packs -}}
{{- if or (ne .kind "manufacturer") (hasKey $.Values.global.manufacturers .name) -}}
{{- $packs = append $packs . -}}
{{- end -}}
{{- end -}}
{{- toYaml (dict "packs" $packs) -}}
{{- end -}}
