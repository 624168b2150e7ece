import { type JournalWriter, parseWriter, WRITER } from '../journal-writer.ts'
import { PostgresConnection, type PostgresPlace } from './connection.ts'
import { translatePostgresError } from './postgres-failures.ts'
import { quoteName, SEEN_WITHIN_MS } from './server-schema.ts'

const ANSWER_MS_MAX = 10_000

export interface LeaseState {
  readonly token: number
  readonly holder: string
  readonly isHeld: boolean
  readonly movedTo: string | undefined
  readonly followers: readonly { readonly holder: string; readonly differs: string }[]
  readonly writer: JournalWriter | undefined
}

export class Handover {
  readonly #place: PostgresPlace
  readonly #connection: PostgresConnection

  constructor(place: PostgresPlace, answerMsMax = ANSWER_MS_MAX) {
    this.#place = place
    this.#connection = new PostgresConnection(place, answerMsMax)
  }

  async look(): Promise<LeaseState> {
    const [lease = {}] = await this.#query(
      `SELECT token, holder, NOT released AS held, moved_to,
          (SELECT value FROM $schema.meta WHERE name = '${WRITER}') AS writer FROM $schema.lease`,
    )
    const followers = await this.#query(
      `SELECT holder, coalesce(to_jsonb(f) ->> 'differs', '') AS differs FROM $schema.followers f WHERE seen_at > clock_timestamp() - interval '${SEEN_WITHIN_MS} milliseconds'`,
    )
    return {
      token: Number(lease['token']),
      holder: String(lease['holder']),
      isHeld: lease['held'] === true,
      movedTo: typeof lease['moved_to'] === 'string' ? lease['moved_to'] : undefined,
      followers: followers.map(({ holder, differs }) => ({
        holder: String(holder),
        differs: String(differs),
      })),
      writer: parseWriter(lease['writer']),
    }
  }

  /** The holder notices the request at its next renewal, and then stops in good order. */
  async ask(token: number): Promise<void> {
    await this.#query('UPDATE $schema.lease SET handover_at = clock_timestamp() WHERE token = $1', [
      token,
    ])
  }

  close(): Promise<void> {
    return this.#connection.close()
  }

  async #query(
    sql: string,
    values: readonly unknown[] = [],
  ): Promise<readonly Readonly<Record<string, unknown>>[]> {
    try {
      return await this.#connection.query(
        sql.replaceAll('$schema', quoteName(this.#place.schema)),
        values,
      )
    } catch (error) {
      throw translatePostgresError(error, this.#place)
    }
  }
}
