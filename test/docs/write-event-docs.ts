/** Writes docs/log-events.md from the table of log events and the places that log (`npm run docs`). */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { buildEventDocs } from './event-docs.ts'

writeFileSync(fileURLToPath(new URL('../../docs/log-events.md', import.meta.url)), buildEventDocs())
