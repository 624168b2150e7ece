/** Writes docs/commands.md and docs/configuration.md (`npm run docs`). */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { buildCommandDocs } from './command-docs.ts'
import { buildConfigDocs } from './config-docs.ts'

const write = (page: string, text: string): void =>
  writeFileSync(fileURLToPath(new URL(`../../docs/${page}`, import.meta.url)), text)

write('commands.md', await buildCommandDocs())
write('configuration.md', buildConfigDocs())
