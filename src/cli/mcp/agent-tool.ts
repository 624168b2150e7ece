import type { z } from 'zod'
import type { OfferedVerb } from '../../control/powers.ts'

export interface AgentTool<
  Input extends z.ZodType = z.ZodType,
  Data extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = Data,
> {
  readonly name: string
  /** Its power is that of the tool. */
  readonly verb: OfferedVerb
  readonly description: string
  readonly input: Input
  readonly isText?: boolean
  /** Schema of the JSON, where the control interface answers the same. */
  readonly data?: Data
  /** Schema of the daemon's answer, where `choose` makes the JSON from it; default: `data`. */
  readonly answer?: Answer
  /** Default: by its power. */
  readonly withinMs?: number
  /** Where the daemon answers what the command prints; undefined if only the command can. */
  readonly path?: (input: z.output<Input>) => string | undefined
  /** How long the daemon is waited for before the command is run; default: two seconds. */
  readonly liveMs?: number
  /** Keeps of the daemon's answer what the command would print; undefined if only it can say. */
  choose?(answer: z.output<Answer>, input: z.output<Input>): unknown
  /** Texts that the command prints beside; default: up to where the journal was read. */
  notes?(answer: z.output<Answer>, input: z.output<Input>): string
  words(input: z.output<Input>, config: ConfigWords): readonly string[]
}

export interface NamedConfig {
  readonly file: string
  readonly set: readonly string[]
  /** Folder in which an assistant may begin strategies. */
  readonly strategies?: string | undefined
}

export interface ConfigWords {
  readonly asOption: readonly string[]
  readonly asArgument: readonly string[]
  /** @throws Error if assistants may begin no strategies */
  readonly drafts: () => string
  /** Adds the setting that keeps the code of the draft in the guard. @throws as `drafts` */
  readonly draft: (name: string) => Pick<ConfigWords, 'asOption' | 'asArgument'>
}

export function tool<
  Input extends z.ZodType,
  Data extends z.ZodType,
  Answer extends z.ZodType = Data,
>(row: AgentTool<Input, Data, Answer>): AgentTool {
  return row
}
