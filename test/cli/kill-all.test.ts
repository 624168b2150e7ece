import { afterAll, expect, test } from 'vitest'
import { Projects } from '../daemon/project.ts'

const projects = new Projects()
afterAll(() => projects.close())

test('[RSK3] kill --all waits with no account for a database out of reach, and names each', async () => {
  const project = projects.open()
  const paper = project
    .read('config/paper.yaml')
    .replace('exchange:', 'exchange:\n  baseUrl: http://127.0.0.1:1')
    .replace(/^simulator:[^]*?\n(?=\w)/m, '')
  project.write('config/paper.yaml', `${paper}\naccounts: [second.yaml, third.yaml]\n`)
  for (const name of ['second', 'third']) {
    const own = paper
      .replace('name: paper', `name: ${name}`)
      .replace('account:', `account:\n  keys: ${name.toUpperCase()}`)
      .replace('.intentd/paper', `.intentd/${name}`)
    const journal = 'journal: { url: postgresql://intentd@127.0.0.1:1/other }'
    project.write(`config/${name}.yaml`, name === 'third' ? `${own}\n${journal}\n` : own)
  }
  const main = ['--set', 'journal.url=postgresql://intentd@127.0.0.1:1/base']
  const kill = project.start(['kill', '--all', '--wait', '300ms', ...main])

  expect((await kill.ended).code).toBe(75)
  const lines = kill.stderr.filter((line) => /NOT killed|^== /.test(line))
  expect(kill.stderr.join('\n')).not.toContain('schema')
  // The account whose journal is a file is killed while both are waited for.
  expect(lines[0]).toBe('== second')
  expect(lines.slice(1).toSorted()).toEqual(
    ['base', 'other'].map(
      (name) =>
        `127.0.0.1:1/${name}: NOT killed: the server did not answer, so nothing was ordered`,
    ),
  )
  expect(project.read('.intentd/second/KILL')).toContain('ordered at the command line')
})
