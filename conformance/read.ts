import assert from 'node:assert/strict'

/*
 * Answers are read here as what they are on the wire, unknown, so that nothing of the project's own schemas
 * decides whether they are right.
 */

type Step = string | number

/** What stands at a path in an answer; undefined where the path ends early. */
export function at(value: unknown, ...path: readonly Step[]): unknown {
  let found = value
  for (const step of path) {
    if (typeof found !== 'object' || found === null) return undefined
    found = (found as Record<Step, unknown>)[step]
  }
  return found
}

/** The list at a path. @throws AssertionError when there is none */
export function listAt(value: unknown, ...path: readonly Step[]): readonly unknown[] {
  const found = at(value, ...path)
  assert.ok(Array.isArray(found), `${path.join('.') || 'the answer'} is a list`)
  return found as readonly unknown[]
}

/** The text at a path. @throws AssertionError when there is none */
export function textAt(value: unknown, ...path: readonly Step[]): string {
  const found = at(value, ...path)
  assert.equal(
    typeof found,
    'string',
    `${path.join('.')} is a string, and not ${JSON.stringify(found)}`,
  )
  return found as string
}

/** The number that a path's text or number stands for. */
export function numberAt(value: unknown, ...path: readonly Step[]): number {
  const found = at(value, ...path)
  const isGiven = (typeof found === 'string' && found !== '') || typeof found === 'number'
  const read = isGiven ? Number(found) : Number.NaN
  assert.ok(
    Number.isFinite(read),
    `${path.join('.')} is a number, and not ${JSON.stringify(found)}`,
  )
  return read
}

/** Every row has every field of the document, as a string, or null where `nullable` says so. */
export function assertFields(
  rows: readonly unknown[],
  fields: readonly string[],
  nullable: readonly string[] = [],
): void {
  for (const row of rows) {
    for (const name of fields) {
      const value = at(row, name)
      const isRight = typeof value === 'string' || (value === null && nullable.includes(name))
      assert.ok(isRight, `${name} is a string, and not ${JSON.stringify(value)}`)
    }
  }
}

/** A field's values are all of the document's list. */
export function assertAllowed(
  rows: readonly unknown[],
  name: string,
  allowed: readonly string[],
): void {
  for (const row of rows) {
    const value = at(row, name)
    assert.ok(
      typeof value === 'string' && allowed.includes(value),
      `${name} is one of ${allowed.join(', ')}, and not ${JSON.stringify(value)}`,
    )
  }
}

/** Ids fall from row to row: newest first, and none twice. */
export function assertNewestFirst(rows: readonly unknown[], name: string): void {
  const ids = rows.map((row) => BigInt(textAt(row, name)))
  for (const [index, id] of ids.entries()) {
    const before = ids[index - 1]
    assert.ok(before === undefined || before > id, `${name} falls: ${before} before ${id}`)
  }
}
