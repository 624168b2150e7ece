import { expect, test } from 'vitest'
import { Fifo } from '../../src/interpreter/interpreter.ts'

const item = (number: number) => ({ number })

test('what comes first is taken first, however many come and go', () => {
  const fifo = new Fifo<{ number: number }>()
  let [put, taken] = [0, 0]
  for (let round = 0; round < 3000; round++) {
    for (let times = 0; times < (round < 2000 ? 2 : 0); times++) fifo.push(item(put++))
    if (fifo.length > 0) expect(fifo.take()?.number).toBe(taken++)
    expect(fifo.length).toBe(put - taken)
    expect(fifo.first?.number).toBe(taken < put ? taken : undefined)
  }
  for (; taken < put; taken++) expect(fifo.take()?.number).toBe(taken)
  expect(fifo.take()).toBeUndefined()
})

test('what is put first is taken before all others', () => {
  const fifo = new Fifo<{ number: number }>()
  fifo.putFirst(item(2))
  expect(fifo.push(item(3))).toBe(2)
  fifo.putFirst(item(1))
  expect([fifo.take(), fifo.take()]).toEqual([item(1), item(2)])
  fifo.putFirst(item(0))
  expect([fifo.take(), fifo.take(), fifo.take()]).toEqual([item(0), item(3), undefined])
})
