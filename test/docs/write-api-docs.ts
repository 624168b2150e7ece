/** Writes docs/exchange-api.md from the endpoint table (`npm run docs`). */
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { buildApiDocs } from './api-docs.ts'

const directory = fileURLToPath(new URL('../../docs/', import.meta.url))
mkdirSync(directory, { recursive: true })
writeFileSync(`${directory}exchange-api.md`, buildApiDocs())
