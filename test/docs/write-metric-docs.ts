/** Writes docs/metrics.md from the table of metrics (`npm run docs`). */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { buildMetricDocs } from './metric-docs.ts'

writeFileSync(fileURLToPath(new URL('../../docs/metrics.md', import.meta.url)), buildMetricDocs())
