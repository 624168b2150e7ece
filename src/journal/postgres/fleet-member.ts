import type { FleetAlert, FleetState } from '../journal.ts'
import { type PostgresConnection, sqlStateOf } from './connection.ts'
import { cleanText } from './server-schema.ts'

/** The schema that all accounts of a database share. Trading does not need it. */
export const FLEET_SCHEMA = 'intentd_fleet'

const MEMBERS_KEPT = '7 days'
const ALERTS_KEPT = '30 days'
const ALERTS_MAX = 5000

/**
 * SQLSTATEs of a missing schema, table or function, and of one that another session is creating.
 */
const MISSING: ReadonlySet<unknown> = new Set(['3F000', '42P01', '42883'])
const MADE_BY_ANOTHER: ReadonlySet<unknown> = new Set(['42P06', '42P07', '42723', '23505'])

/**
 * Rows have room to be updated in place. The function waits for no lock, because other work needs
 * the same connection.
 */
const FLEET_SQL = `
  CREATE SCHEMA IF NOT EXISTS ${FLEET_SCHEMA};
  CREATE TABLE ${FLEET_SCHEMA}.members (
    id text PRIMARY KEY, kind text NOT NULL, holder text NOT NULL, schema text NOT NULL, state jsonb NOT NULL,
    started_at timestamptz NOT NULL, seen_at timestamptz NOT NULL
  ) WITH (fillfactor = 50);
  CREATE TABLE ${FLEET_SCHEMA}.alerts (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at timestamptz NOT NULL, holder text NOT NULL,
    schema text NOT NULL, urgency text NOT NULL, event text NOT NULL, title text NOT NULL, lines jsonb NOT NULL
  );
  CREATE INDEX alerts_by_time ON ${FLEET_SCHEMA}.alerts (at);
  CREATE FUNCTION ${FLEET_SCHEMA}.show(who jsonb, news jsonb) RETURNS void LANGUAGE plpgsql
    SET search_path = ${FLEET_SCHEMA} SET lock_timeout = '500ms' AS $intentd$
  BEGIN
    IF who ? 'state' THEN
      INSERT INTO members AS m VALUES (who->>'id', who->>'kind', who->>'holder', who->>'schema', who->'state',
          clock_timestamp(), clock_timestamp())
        ON CONFLICT (id) DO UPDATE SET kind = EXCLUDED.kind, holder = EXCLUDED.holder, schema = EXCLUDED.schema,
          state = EXCLUDED.state, seen_at = EXCLUDED.seen_at,
          started_at = CASE WHEN m.holder = EXCLUDED.holder THEN m.started_at ELSE EXCLUDED.started_at END;
      DELETE FROM members WHERE seen_at < clock_timestamp() - interval '${MEMBERS_KEPT}';
    END IF;
    IF jsonb_array_length(news) > 0 THEN
      INSERT INTO alerts (at, holder, schema, urgency, event, title, lines)
        SELECT clock_timestamp(), who->>'holder', who->>'schema', one->>'urgency', one->>'event', one->>'title',
          one->'lines' FROM jsonb_array_elements(news) AS one;
      DELETE FROM alerts WHERE at < clock_timestamp() - interval '${ALERTS_KEPT}'
        OR id <= (SELECT max(id) FROM alerts) - ${ALERTS_MAX};
    END IF;
  END $intentd$;`

export interface FleetMemberOptions {
  readonly connection: Pick<PostgresConnection, 'query'>
  /**
   * A daemon's id is its schema, a worker's its process. A later writer of the schema takes the row
   * over.
   */
  readonly id: string
  readonly kind: 'daemon' | 'worker'
  readonly holder: string
  readonly schema: string
}

export class FleetMember {
  readonly #options: FleetMemberOptions

  constructor(options: FleetMemberOptions) {
    this.#options = options
  }

  /** @param state undefined for alerts alone */
  async show(state: FleetState | undefined, alerts: readonly FleetAlert[] = []): Promise<void> {
    const { connection, id, kind, holder, schema } = this.#options
    const values = [toJson({ id, kind, holder, schema, state }), toJson(alerts)]
    const write = () => connection.query(`SELECT ${FLEET_SCHEMA}.show($1, $2)`, values)
    try {
      await write()
    } catch (error) {
      if (!MISSING.has(sqlStateOf(error))) throw error
      await makeFleet(connection)
      await write()
    }
  }

  /** Called at a clean end, so that the member does not count as vanished. */
  async leave(): Promise<void> {
    const { connection, id, holder } = this.#options
    await connection.query(`DELETE FROM ${FLEET_SCHEMA}.members WHERE id = $1 AND holder = $2`, [
      id,
      holder,
    ])
  }
}

function toJson(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) =>
    typeof part === 'string' ? cleanText(part) : part,
  )
}

async function makeFleet(connection: Pick<PostgresConnection, 'query'>): Promise<void> {
  try {
    // Several statements in one query are one transaction.
    await connection.query(FLEET_SQL)
  } catch (error) {
    if (!MADE_BY_ANOTHER.has(sqlStateOf(error))) throw error
  }
}
