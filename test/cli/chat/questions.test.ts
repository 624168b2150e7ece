import { expect, test } from 'vitest'
import { CHAT_ORDERS, CHAT_QUESTIONS, type ChatOrder } from '../../../src/cli/chat/questions.ts'
import { powerOf } from '../../../src/control/powers.ts'
import { createRandom } from '../../../src/lib/random.ts'

function wordsOf(read: ReturnType<ChatOrder['read']>): readonly string[] | undefined {
  return read && 'words' in read ? read.words : undefined
}

test('whatever 20,000 messages say, no word of a command line is an option or names another file', () => {
  const random = createRandom('chat')
  const pieces = [
    'BTCUSDT',
    '*',
    'strategy:grid',
    '--config=/etc/passwd',
    '-c',
    '--all',
    '..',
    '/',
    '$(x)',
    'day',
    '12',
    '\n',
    '--reason',
    'a'.repeat(300),
    '\u202E',
    '',
  ]
  const pick = <Value>(values: readonly Value[]): Value =>
    values[Math.floor(random.next() * values.length)] as Value
  let taken = 0

  for (let turn = 0; turn < 20_000; turn++) {
    const given = Array.from(
      { length: Math.floor(random.next() * 3) },
      () => pick(pieces) + (random.next() < 0.2 ? pick(pieces) : ''),
    )
    const [question, order] = [pick(CHAT_QUESTIONS), pick(CHAT_ORDERS)]
    const isQuestion = random.next() < 0.5
    const words = isQuestion ? question.words(given) : wordsOf(order.read(given))
    if (words === undefined) continue
    taken += 1
    expect(powerOf(question.verb)).toBe('look')
    expect(['safer', 'riskier']).toContain(powerOf(order.verb))
    for (const word of words)
      expect(word).toMatch(
        /^(?:--(?:json|csv|curve|since=\d{1,3}[hd]|limit=(?:10|8)|course=[1-9]\d{0,2}|by=(?:day|week|month|strategy|instrument)|symbol=[A-Za-z0-9*][\w*:.#-]*)|\d{1,3}(?:\.\d{1,4})?%|[A-Za-z0-9*][\w*:.#-]*)$/,
      )
  }

  expect(taken).toBeGreaterThan(2000)
})
