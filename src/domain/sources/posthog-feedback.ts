import type { SourcePreset } from '../../schemas/source-preset.ts'

/** The properties, of the default form or the flat one. */
const PROPERTIES = '{% assign p = payload.event.properties | default: payload.properties %}'

/** The user's address stands only in the inbox. */
const NOTE = `${PROPERTIES}{% assign note = p.note | default: "" | strip %}{% if p.user_email.size > 3 %}{% assign note = note | replace: p.user_email, "[user_email]" %}{% endif %}`

/** Makes the tasks of the feedback receiver, from a sender that signs instead of sending a secret. */
export const posthogFeedback: SourcePreset = {
  id: 'posthog_feedback',
  name: 'PostHog feedback',
  description: 'The tasks of the feedback receiver, for destinations that sign.',
  secretFrom: 'inlet',
  verify: { scheme: 'standard_webhooks', header: null, prefix: null },
  each: null,
  filter: 'payload.event.event == "feedback_submitted" or payload.event == "feedback_submitted"',
  template: {
    title: `${NOTE}{% assign line = note | split: "
" | first | strip %}{% if line == "" %}{{ p.sentiment | capitalize }} feedback from {{ p.surface }} {{ p.app_version }}{% elsif line.size > 120 %}{{ line | slice: 0, 119 | split: " " | pop | join: " " }}…{% else %}{{ line }}{% endif %}`,
    description: `${NOTE}{{ note }}

| Property | Value |
| --- | --- |
{% for property in p %}{% unless property[0] == "note" or property[0] == "user_email" or property[1] == nil %}{% assign value = property[1] %}{% if value.first or value.size == 0 %}{% assign value = value | json %}{% endif %}{% assign value = value | append: "" | replace: "|", "\\\\|" | replace: "<", "&lt;" | replace: ">", "&gt;" | strip_newlines %}{% if p.user_email.size > 3 %}{% assign value = value | replace: p.user_email, "[user_email]" %}{% endif %}| {{ property[0] }} | {{ value }} |
{% endunless %}{% endfor %}`,
    priority: `${PROPERTIES}{% case p.sentiment %}{% when "frustrated" %}high{% when "loved" %}low{% else %}medium{% endcase %}`,
    labels: `${PROPERTIES}{{ p.sentiment }}, {{ p.trigger }}`,
    externalId: '{{ payload.event.uuid | default: payload.uuid }}',
    externalUrl: null,
    status: null,
  },
}
