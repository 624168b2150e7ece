import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { daemonFileSchema } from './schema/daemon-schema.ts'
import { simulatorFileSchema } from './schema/simulator-schema.ts'
import { strategyFileSchema } from './schema/strategy-schema.ts'

const SCHEMAS = {
  'intentd.schema.json': daemonFileSchema,
  'simulator.schema.json': simulatorFileSchema,
  'strategy.schema.json': strategyFileSchema,
}

export const buildSchemaFiles = (): Map<string, string> =>
  new Map(
    Object.entries(SCHEMAS).map(([name, schema]) => [
      name,
      `${JSON.stringify(toEditorSchema(schema), null, 2)}\n`,
    ]),
  )

const toEditorSchema = (schema: z.core.$ZodType) =>
  z.toJSONSchema(schema, {
    target: 'draft-7',
    io: 'input',
    override: ({ jsonSchema }) => {
      if (jsonSchema['names'] === true) takeNames(jsonSchema)
      if (jsonSchema['decimal'] !== true) return
      // `decimal` is our own mark: an unquoted number is valid too, see YamlSource.read.
      delete jsonSchema['decimal']
      Object.assign(jsonSchema, { type: ['string', 'number'] })
    },
  })

/** `names` is our own mark: names alone are valid too, see YamlSource.expandNames. */
function takeNames(jsonSchema: z.core.JSONSchema.BaseSchema): void {
  const { names: _names, title, description, ...mapping } = jsonSchema
  const { propertyNames, additionalProperties } = mapping
  for (const key of Object.keys(jsonSchema)) delete jsonSchema[key]
  const orNothing = {
    ...mapping,
    additionalProperties: { anyOf: [additionalProperties, { type: 'null' }] },
  }
  const list = { type: 'array', items: propertyNames, minItems: 1, uniqueItems: true }
  Object.assign(jsonSchema, { title, description, anyOf: [orNothing, list] })
}

if (import.meta.main) {
  const directory = fileURLToPath(new URL('../../config/schema/', import.meta.url))
  mkdirSync(directory, { recursive: true })
  for (const [name, text] of buildSchemaFiles()) writeFileSync(directory + name, text)
}
