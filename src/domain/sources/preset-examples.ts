/** A payload of each preset as its sender sends it, shortened, so that a source can be written beside it. */
export const PRESET_EXAMPLES = {
  posthog_feedback: {
    uuid: '01968718-2d82-7000-8dbf-8feac9b6fd09',
    event: 'feedback_submitted',
    distinct_id: 'user-1',
    timestamp: '2026-05-02T10:38:57.964Z',
    properties: { sentiment: 'frustrated', trigger: 'manual', app_version: '2.3.1', note: 'Export fails' },
  },
  posthog_surveys: {
    event: {
      uuid: 'a74ebf50-d3ee-485d-bb71-d18e65712fae',
      event: 'survey sent',
      timestamp: '2026-05-02T10:38:57.964Z',
      properties: {
        $current_url: 'https://app.example.com/settings',
        $survey_id: '01968718-2d82-0000-3dbf-8feac9b6fd09',
        $survey_name: 'Recommendation',
        '$survey_response_4c3581e0-0131-4c0e-b471-9d70266e565a': 9,
        $survey_questions: [
          {
            id: '4c3581e0-0131-4c0e-b471-9d70266e565a',
            index: 0,
            question: 'How likely are you to recommend us to a friend?',
          },
        ],
      },
    },
    person: { name: 'Max', url: 'https://us.posthog.com/person/965a371a-a1a5-4881-8b95-9747d1b0d4ac' },
  },
  sentry_issue_alerts: {
    action: 'triggered',
    data: {
      event: {
        event_id: 'f9cb0f2afff74a5aa92e766fb7ac3fe3',
        platform: 'node',
        datetime: '2026-04-30T06:19:33.562812Z',
        culprit: 'trigger-exception',
        level: 'error',
        metadata: { type: 'Error', value: 'Sample error from node.' },
        title: 'Error: Sample error from node.',
        release: '2.3.1',
        environment: 'production',
        web_url: 'https://sentry.io/organizations/example/issues/1638852747/events/f9cb0f2afff74a5a/',
        issue_url: 'https://sentry.io/api/0/issues/1638852747/',
      },
      triggered_rule: 'New issues',
    },
  },
  formbricks_responses: {
    event: 'responseFinished',
    data: {
      id: 'cmh14h0az0no8ad0163nsndjm',
      surveyId: 'cmf5homcz0p1kww010hzezjjp',
      createdAt: '2026-10-21T22:14:48.012Z',
      survey: { title: 'Onboarding' },
      data: { reason: ['Reports', 'Search'], rating: 3 },
      meta: { url: 'https://app.example.com/welcome' },
    },
  },
  gitlab_issues: {
    object_kind: 'issue',
    project: { name: 'app', web_url: 'https://gitlab.example.com/acme/app' },
    object_attributes: {
      id: 2788274,
      iid: 1,
      title: 'Export fails',
      description: 'It does nothing.',
      state: 'opened',
      action: 'open',
      url: 'https://gitlab.example.com/acme/app/-/issues/1',
    },
    labels: [{ id: 206, title: 'bug' }],
  },
  grafana_alerts: {
    receiver: 'Inlet',
    status: 'firing',
    alerts: [
      {
        status: 'firing',
        labels: { alertname: 'High memory usage', severity: 'critical', instance: 'app-1' },
        annotations: {
          summary: 'Memory usage is above 80 %',
          description: 'The current value is 93 %.',
          runbook_url: 'https://runbook.example.com/memory',
        },
        startsAt: '2026-06-17T00:41:00.782Z',
        generatorURL: 'https://grafana.example.com/alerting/grafana/zTjxv_C7k/view',
        fingerprint: 'd8a21484c9c25a60',
        silenceURL: 'https://grafana.example.com/alerting/silence/new?alertmanager=grafana',
        dashboardURL: '',
        panelURL: '',
      },
    ],
    title: '[FIRING:1] High memory usage',
    state: 'alerting',
  },
  alertmanager_alerts: {
    receiver: 'inlet',
    status: 'firing',
    alerts: [
      {
        status: 'firing',
        labels: { alertname: 'HighMemoryUsage', severity: 'warning', instance: '127.0.0.1:8080' },
        annotations: { summary: 'Memory usage is above 80 %', description: 'The current value is 93 %.' },
        startsAt: '2026-11-02T08:12:16.003Z',
        generatorURL: 'http://prometheus.example.com/graph?g0.expr=memory',
        fingerprint: 'fa65a21db3335b7d',
      },
    ],
    groupLabels: { alertname: 'HighMemoryUsage' },
    version: '4',
  },
}
