import { expect, test } from 'vitest'
import { VERBS } from '../../src/cli/main.ts'
import { AGENT_PATH, POST_TOKENS, VERB_POWERS } from '../../src/control/powers.ts'
import { buildOpenApi } from '../../src/control/openapi.ts'

test('every command of the command line has a power, and no other word', () => {
  expect(Object.keys(VERB_POWERS).toSorted()).toEqual(
    VERBS.flatMap(({ names }) => names).toSorted(),
  )
})

test('every path that takes a POST says which token opens it, and no other', () => {
  const { paths } = buildOpenApi('1.2.3') as { paths: Record<string, object> }
  const posts = Object.entries(paths).flatMap(([path, row]) => ('post' in row ? [path] : []))

  expect(Object.keys(POST_TOKENS).toSorted()).toEqual([...posts, AGENT_PATH].toSorted())
})
