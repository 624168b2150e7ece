import { expect, test } from 'vitest'
import { VERBS } from '../../src/cli/main.ts'
import { AGENT_PATH, agentPowers, POST_TOKENS, VERB_POWERS } from '../../src/control/powers.ts'
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

test('an assistant has the powers of control.agents, and at a port that is read-only no commands', () => {
  const all = { research: true, safer: true, propose: true }
  const none = { research: false, safer: false, propose: false }
  const every = ['look', 'research', 'safer', 'riskier']

  for (const way of ['port', 'machine'] as const) {
    expect([...agentPowers({ readOnly: false, agents: all }, way)]).toEqual(every)
    expect([...agentPowers({ readOnly: true, agents: none }, way)]).toEqual(['look'])
  }
  expect([...agentPowers({ readOnly: true, agents: all }, 'port')]).toEqual(['look', 'research'])
  expect([...agentPowers({ readOnly: true, agents: all }, 'machine')]).toEqual(every)
})
