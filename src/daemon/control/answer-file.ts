import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { AnswerStore } from '../../control/answered-requests.ts'
import { controlAnswerSchema } from '../../control/commands.ts'
import { writeDurably } from '../../lib/durable-file.ts'
import { messageOf } from '../../lib/failure.ts'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'

/** In the state directory: the answers to the last commands. */
const ANSWERS_FILE = 'control-answers.json'

const answersSchema = z.array(
  z.object({ digest: z.string(), answer: controlAnswerSchema, isKept: z.boolean() }),
)

/** @param onTrouble They cannot be written: a command that is sent again after a restart is obeyed again. */
export function createAnswerFile(
  directory: string,
  onTrouble: (reason: string) => void,
): AnswerStore {
  const file = join(directory, ANSWERS_FILE)
  return {
    load() {
      try {
        return answersSchema.parse(parseBoundedJson(readFileSync(file, 'utf8')))
      } catch {
        // None yet, or of another version: each command changes nothing the second time.
        return []
      }
    },
    save(answers) {
      try {
        writeDurably(file, JSON.stringify(answers))
      } catch (error) {
        onTrouble(`${file}: ${messageOf(error)}`)
      }
    },
  }
}
