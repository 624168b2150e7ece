import { METRICS } from '../../src/control/metrics-text.ts'

/** docs/metrics.md: everything that /metrics can show. */
export function buildMetricDocs(): string {
  const rows = Object.entries(METRICS).map(
    ([name, { type, help }]) => `| \`${name}\` | ${type} | ${help} |`,
  )
  return `# Metrics

\`GET /metrics\` of the [control interface](control.md) shows these to Prometheus, with the token that only looks. [monitoring.md](monitoring.md) says how to set that up, which rules alert, and what \`NaN\` and \`+Inf\` mean. A series whose labels are known at the start is there from the start, with 0 where nothing is.

| name | type | |
|---|---|---|
${rows.join('\n')}

Where a daemon has several accounts each has its own port (\`control.port\`), and is a target of its own. Money is shown as a float: what has to be exact is in \`intentd profit --json\`.
`
}
