import type { SourcePreset } from '../../schemas/source-preset.ts'
import { PRESET_EXAMPLES } from './preset-examples.ts'

const SURVEY_PROPERTIES = '{% assign p = payload.event.properties %}'
/** The answer to the question `q`, by its id, or as earlier SDKs send it, by its position. */
const SURVEY_RESPONSE = `{% assign key = "$survey_response_" | append: q.id %}{% assign old = "$survey_response" %}{% unless forloop.first %}{% assign old = "$survey_response_" | append: forloop.index0 %}{% endunless %}{% assign given = p[key] | default: q.response | default: p[old] %}`

/** An answer is a text, a number, a list, or for a matrix, an object. */
const FORMBRICKS_RESPONSE =
  '{% capture text %}{% for part in answer[1] %}{% unless forloop.first %}, {% endunless %}{% if part.first %}{{ part[0] }}: {{ part[1] | join: " " }}{% else %}{{ part }}{% endif %}{% else %}{{ answer[1] }}{% endfor %}{% endcapture %}'

/** Ready-made sources. Each has a page in `docs/sources`, which says what to set at the sender. */
export const PRESETS: SourcePreset[] = [
  {
    id: 'posthog_feedback',
    name: 'PostHog feedback',
    description: 'The tasks of the feedback receiver, for destinations that sign.',
    example: PRESET_EXAMPLES.posthog_feedback,
    secretFrom: 'inlet',
    verify: { scheme: 'standard_webhooks', header: null, prefix: null },
    mapping: 'feedback',
    each: null,
    filter: null,
    template: null,
    clears: [],
  },
  {
    id: 'posthog_surveys',
    name: 'PostHog surveys',
    description: 'A task for each response to a survey (`survey sent`).',
    example: PRESET_EXAMPLES.posthog_surveys,
    secretFrom: 'inlet',
    verify: { scheme: 'standard_webhooks', header: null, prefix: null },
    mapping: 'template',
    each: null,
    filter: 'payload.event.event == "survey sent"',
    template: {
      title: `${SURVEY_PROPERTIES}{% assign answer = "" %}{% for q in p["$survey_questions"] %}${SURVEY_RESPONSE}{% if answer == "" %}{% assign answer = given | join: ", " %}{% endif %}{% endfor %}{% if answer == "" %}{% assign answer = p["$survey_response"] | join: ", " %}{% endif %}{{ p["$survey_name"] | default: "Survey" }}{% if answer != "" %}: {{ answer | truncate: 100, "…" }}{% endif %}`,
      description: `${SURVEY_PROPERTIES}{% for q in p["$survey_questions"] %}${SURVEY_RESPONSE}**{{ q.question | default: q.id | default: q }}**

{{ given | join: ", " | default: "(no answer)" }}

{% else %}{{ p["$survey_response"] | join: ", " }}

{% endfor %}{% if payload.person.name != blank %}From [{{ payload.person.name }}]({{ payload.person.url }}){% endif %}{% if p["$current_url"] != blank %} on {{ p["$current_url"] }}{% endif %}`,
      priority: null,
      labels: 'survey',
      externalId: `${SURVEY_PROPERTIES}{{ p["$survey_submission_id"] | default: payload.event.uuid }}`,
      externalUrl: '{{ payload.person.url }}',
      status: null,
    },
    clears: [],
  },
  {
    id: 'sentry_issue_alerts',
    name: 'Sentry issue alerts',
    description:
      'A task for each issue that an alert rule reports. Another alert of the issue updates it, and reopens it.',
    example: PRESET_EXAMPLES.sentry_issue_alerts,
    secretFrom: 'sender',
    verify: { scheme: 'hmac_sha256_hex', header: 'Sentry-Hook-Signature', prefix: null },
    mapping: 'template',
    each: null,
    filter: 'payload.data.event',
    template: {
      title: '{{ payload.data.event.title }}',
      description: `{% assign e = payload.data.event %}{% if e.culprit != blank %}\`{{ e.culprit | remove: "\`" }}\`

{% endif %}{% if e.metadata.value != blank %}{{ e.metadata.value }}

{% endif %}| | |
| --- | --- |
| Alert | {{ payload.data.triggered_rule | replace: "|", "\\\\|" }} |
| Level | {{ e.level }} |
| Platform | {{ e.platform }} |
| Release | {{ e.release }} |
| Environment | {{ e.environment }} |
| Time | {{ e.datetime }} |`,
      priority:
        '{% case payload.data.event.level %}{% when "fatal" %}high{% when "info", "debug", "sample" %}low{% else %}medium{% endcase %}',
      labels: 'sentry, {{ payload.data.event.level }}',
      externalId:
        '{% assign e = payload.data.event %}{{ e.issue_id | default: e.issue_url | split: "/issues/" | last | remove: "/" }}',
      externalUrl: '{{ payload.data.event.web_url }}',
      status: 'open',
    },
    clears: [],
  },
  {
    id: 'formbricks_responses',
    name: 'Formbricks responses',
    description: 'A task for each finished response to a survey.',
    example: PRESET_EXAMPLES.formbricks_responses,
    secretFrom: 'sender',
    verify: { scheme: 'standard_webhooks', header: null, prefix: null },
    mapping: 'template',
    each: null,
    filter: 'payload.event == "responseFinished"',
    template: {
      title: `{{ payload.data.survey.title | default: "Survey" }}{% for answer in payload.data.data limit: 1 %}${FORMBRICKS_RESPONSE}{% if text != blank %}: {{ text | truncate: 100, "…" }}{% endif %}{% endfor %}`,
      description: `{% for answer in payload.data.data %}${FORMBRICKS_RESPONSE}**{{ answer[0] }}**

{{ text | default: "(no answer)" }}

{% endfor %}{% if payload.data.meta.url != blank %}On {{ payload.data.meta.url }}{% endif %}`,
      priority: null,
      labels: 'survey',
      externalId: '{{ payload.data.id }}',
      externalUrl: '{{ payload.data.meta.url }}',
      status: null,
    },
    clears: [],
  },
  {
    id: 'gitlab_issues',
    name: 'GitLab issues',
    description:
      'A task for each issue of a project. Closing and reopening the issue does the same to its task.',
    example: PRESET_EXAMPLES.gitlab_issues,
    secretFrom: 'inlet',
    verify: { scheme: 'token', header: 'X-Gitlab-Token', prefix: null },
    mapping: 'template',
    each: null,
    // GitLab calls incidents and tasks work items, and in its newer versions issues as well.
    filter: 'payload.object_kind == "issue" or payload.object_kind == "work_item"',
    template: {
      title: '{{ payload.object_attributes.title }}',
      description: '{{ payload.object_attributes.description }}',
      priority: null,
      labels: '{{ payload.labels | map: "title" | join: "," }}',
      externalId: '{{ payload.object_attributes.id }}',
      externalUrl: '{{ payload.object_attributes.url }}',
      status: '{% if payload.object_attributes.state == "closed" %}done{% else %}open{% endif %}',
    },
    clears: ['description', 'labels'],
  },
  {
    ...alerts(),
    id: 'grafana_alerts',
    name: 'Grafana alerts',
    description:
      'A task for each alert of a contact point. It is done when the alert is resolved, and reopened when it fires again.',
    example: PRESET_EXAMPLES.grafana_alerts,
  },
  {
    ...alerts(),
    id: 'alertmanager_alerts',
    name: 'Prometheus Alertmanager alerts',
    description:
      'A task for each alert of a receiver. It is done when the alert is resolved, and reopened when it fires again.',
    example: PRESET_EXAMPLES.alertmanager_alerts,
  },
]

/** Both send the same form; Grafana adds members. */
function alerts(): Omit<SourcePreset, 'id' | 'name' | 'description' | 'example'> {
  return {
    secretFrom: 'inlet',
    verify: { scheme: 'bearer', header: null, prefix: null },
    mapping: 'template',
    each: 'payload.alerts',
    filter: null,
    template: {
      title:
        '{{ item.annotations.summary | default: item.labels.alertname | default: "Alert" }}{% assign place = item.labels.instance | default: item.labels.host %}{% if place != blank %} ({{ place }}){% endif %}',
      description: `{% if item.annotations.description != blank %}{{ item.annotations.description }}

{% endif %}{% if item.valueString != blank %}\`{{ item.valueString | remove: "\`" }}\`

{% endif %}| Label | Value |
| --- | --- |
{% for label in item.labels %}| {{ label[0] }} | {{ label[1] | replace: "|", "\\\\|" | strip_newlines }} |
{% endfor %}
{% if item.annotations.runbook_url != blank %}[Runbook]({{ item.annotations.runbook_url }}) · {% endif %}{% if item.dashboardURL != blank %}[Dashboard]({{ item.dashboardURL }}) · {% endif %}{% if item.silenceURL != blank %}[Silence]({{ item.silenceURL }}) · {% endif %}Since {{ item.startsAt }}`,
      priority:
        '{% case item.labels.severity %}{% when "critical", "page", "emergency" %}high{% when "info", "none" %}low{% else %}medium{% endcase %}',
      labels: 'alert, {{ item.labels.severity }}',
      externalId: '{{ item.fingerprint }}',
      externalUrl: '{{ item.panelURL | default: item.generatorURL }}',
      status: '{% if item.status == "resolved" %}done{% else %}open{% endif %}',
    },
    clears: [],
  }
}
