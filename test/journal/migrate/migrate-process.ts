/** A process that migrates a journal: `node migrate-process.ts FILE IDENTITY`, to be killed in the midst of it. */
import { migrateFile } from '../../../src/journal/migrate/migrate-file.ts'

const [file = '', identity = ''] = process.argv.slice(2)
migrateFile({ file, identity })
