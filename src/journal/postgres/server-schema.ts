export interface JournalTable {
  readonly name: string
  readonly columns: readonly { readonly name: string; readonly type: 'bigint' | 'text' }[]
  readonly key: readonly string[]
}

function table(name: string, key: readonly string[], columns: string): JournalTable {
  return {
    name,
    key,
    columns: columns.split(' ').map((column) => {
      const isNumber = column.endsWith('#')
      return { name: isNumber ? column.slice(0, -1) : column, type: isNumber ? 'bigint' : 'text' }
    }),
  }
}

/** The tables of `journal-layout.ts`; # marks a column of numbers. */
export const JOURNAL_TABLES: readonly JournalTable[] = [
  table('records', ['sequence'], 'sequence# at# kind body booked link'),
  table('book', ['position'], 'position# name key value digest'),
  table('used_keys', ['bucket', 'name'], 'bucket# name at# digest'),
  table('key_buckets', ['bucket'], 'bucket# keys# sum'),
  table(
    'fills',
    ['tradeId', 'orderId'],
    'tradeId at# orderId clientOid strategyId owner symbol side tradeSide price size profit fee coin scope source fillKind otherFees reason tag digest',
  ),
  table('funding', ['id'], 'id at# symbol side amount coin digest'),
  table('booked_days', ['kind', 'day'], 'kind day# rows# sum'),
  table('checkpoints', ['sequence'], 'sequence# link rows# sum keys# key_sum booked seal'),
  table('curves', ['series', 'step', 'at'], 'series step# at# value digest'),
]

export function tableNamed(name: string): JournalTable | undefined {
  return JOURNAL_TABLES.find((one) => one.name === name)
}

/** Layouts 5 and 6 have this number in a server's `meta`, because they differ only in files. */
const SERVER_LAYOUT_FIRST = '1'

export function toLayout(text: string): number {
  return text === SERVER_LAYOUT_FIRST ? 6 : Number(text)
}

/**
 * An hour's changes are some megabytes. A follower that is further behind reads the tables anew.
 */
const FEED_KEPT = '1 hour'

/** The previous holder may not take the lease back for so long. */
const HANDED_OVER_FOR = '30 seconds'

export const LEASE_GONE = 'IN001'
export const JOURNAL_MOVED = 'IN002'
export const LAYOUT_OTHER = 'IN003'

export const STILL_HELD = 'token = $1 AND NOT released'

const DOUBLE_QUOTE = /"/g

export function quoteName(name: string): string {
  return `"${name.replaceAll(DOUBLE_QUOTE, '""')}"`
}

/** Replaces what the server refuses: NUL and halves of characters. */
export function cleanText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
}

/**
 * Creates the tables of a journal, and with them:
 *
 * - `feed`: the changes of each transaction, for followers
 * - `lease`: the writer and the end of its lease. Every write leaves the link of the last record
 *   there, so that a lost tail is noticed
 * - `followers`: each standby, its place in the feed, and how its trading would differ
 */
export function schemaSql(schema: string): string {
  return `
    CREATE SCHEMA ${quoteName(schema)};
    SET LOCAL search_path = ${quoteName(schema)};
    CREATE TABLE meta (name text PRIMARY KEY, value text NOT NULL);
    ${JOURNAL_TABLES.map(tableSql).join('\n')}
    CREATE INDEX fills_by_time ON fills (at);
    CREATE INDEX funding_by_time ON funding (at);
    CREATE TABLE feed (
      place bigint PRIMARY KEY, at timestamptz NOT NULL DEFAULT clock_timestamp(), changes jsonb NOT NULL
    );
    CREATE TABLE lease (
      one boolean PRIMARY KEY DEFAULT true CHECK (one),
      token bigint NOT NULL, place text NOT NULL, holder text NOT NULL,
      taken_at timestamptz NOT NULL, expires_at timestamptz NOT NULL, validity interval NOT NULL,
      released boolean NOT NULL, handover_at timestamptz, feed_place bigint NOT NULL, last_sequence bigint NOT NULL, last_link text NOT NULL, moved_to text
    );
    INSERT INTO lease VALUES (true, 0, '', '', now(), now(), '0', true, NULL, 0, 0, '', NULL);
    CREATE TABLE followers (
      place text PRIMARY KEY, holder text NOT NULL, feed_place bigint NOT NULL, seen_at timestamptz NOT NULL,
      differs text NOT NULL DEFAULT ''
    );
    ${functionsSql(schema)}
  `
}

/** A standby writes `seen_at` four times a second; one seen within this time follows. */
export const SEEN_WITHIN_MS = 5000

export function functionsSql(schema: string): string {
  return `
    ${functionSql('write_changes(held bigint, new_place bigint, new_sequence bigint, new_link text, changes jsonb) RETURNS void', WRITE_CHANGES, schema)}
    ${functionSql(TAKE_LEASE_HEAD, TAKE_LEASE, schema)}
  `
}

function tableSql({ name, columns, key }: JournalTable): string {
  // Only a record may lack `booked`.
  const parts = columns.map(
    (column) =>
      `${quoteName(column.name)} ${column.type}${column.name === 'booked' && name === 'records' ? '' : ' NOT NULL'}`,
  )
  return `CREATE TABLE ${name} (${parts.join(', ')}, PRIMARY KEY (${key.map(quoteName).join(', ')}));`
}

function functionSql(head: string, body: string, schema: string): string {
  return `CREATE FUNCTION ${head} LANGUAGE plpgsql SET search_path = ${quoteName(schema)} AS $intentd$${body}$intentd$;`
}

/**
 * Checks the token first, which locks the lease's row. Once another machine has taken the lease,
 * this token is never valid again.
 */
const WRITE_CHANGES = `
  BEGIN
    UPDATE lease SET feed_place = new_place, last_sequence = new_sequence, last_link = new_link
      WHERE token = held AND NOT released AND moved_to IS NULL AND feed_place = new_place - 1;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'the lease has gone to another' USING ERRCODE = '${LEASE_GONE}';
    END IF;
    ${JOURNAL_TABLES.map(changeSql).join('\n')}
    INSERT INTO feed (place, changes) VALUES (new_place, changes);
    IF changes ? 'checkpoints' THEN
      DELETE FROM feed WHERE at < clock_timestamp() - interval '${FEED_KEPT}' AND place < new_place;
    END IF;
  END`

function changeSql({ name, columns, key }: JournalTable): string {
  const rest = columns
    .filter((column) => !key.includes(column.name))
    .map((column) => quoteName(column.name))
  return `
    IF changes ? '${name}' THEN
      DELETE FROM ${name} AS t USING jsonb_populate_recordset(NULL::${name}, changes #> '{${name},drop}') AS gone
        WHERE ${key.map((one) => `t.${quoteName(one)} = gone.${quoteName(one)}`).join(' AND ')};
      INSERT INTO ${name} SELECT * FROM jsonb_populate_recordset(NULL::${name}, changes #> '{${name},put}')
        ON CONFLICT (${key.map(quoteName).join(', ')})
        DO UPDATE SET ${rest.map((one) => `${one} = EXCLUDED.${one}`).join(', ')};
    END IF;`
}

const TAKE_LEASE_HEAD = `take_lease(
  IN who_place text, IN who text, IN lasting interval, IN valid interval, IN known text,
  OUT taken boolean, OUT token bigint, OUT feed_place bigint, OUT abandoned boolean, OUT holder text,
  OUT free_in_ms double precision)`

/**
 * Takes the lease if docs/scaling-internals.md ("The lease") allows it. A process that knows
 * another layout never gets it, because its machine may have followed since before a migration.
 */
const TAKE_LEASE = `
  DECLARE
    before lease%ROWTYPE;
    free_at timestamptz;
  BEGIN
    SELECT * INTO before FROM lease FOR UPDATE;
    IF NOT EXISTS (SELECT FROM meta WHERE name = 'layout' AND value = known) THEN
      RAISE EXCEPTION '%', (SELECT value FROM meta WHERE name = 'layout') USING ERRCODE = '${LAYOUT_OTHER}';
    END IF;
    IF before.moved_to IS NOT NULL THEN
      RAISE EXCEPTION '%', before.moved_to USING ERRCODE = '${JOURNAL_MOVED}';
    END IF;
    free_at := CASE
      WHEN before.released AND before.handover_at IS NOT NULL AND before.place = who_place
        THEN before.handover_at + interval '${HANDED_OVER_FOR}'
      WHEN before.released OR before.place = who_place THEN '-infinity'
      ELSE before.expires_at + before.validity END;
    taken := free_at <= clock_timestamp();
    token := before.token + 1;
    feed_place := before.feed_place;
    abandoned := NOT before.released AND before.place <> who_place;
    holder := before.holder;
    free_in_ms := CASE WHEN taken THEN 0 ELSE extract(epoch FROM free_at - clock_timestamp()) * 1000 END;
    IF taken THEN
      UPDATE lease SET token = before.token + 1, place = who_place, holder = who, taken_at = clock_timestamp(),
        expires_at = clock_timestamp() + lasting, validity = valid, released = false, handover_at = NULL;
    END IF;
  END`
