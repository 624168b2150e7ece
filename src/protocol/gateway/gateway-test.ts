import { z } from 'zod'
import { defineEndpoint } from '../endpoint.ts'

/**
 * Document: "the signing example path `/swap/api/test` with two query parameters and a JSON body".
 */
const QUERY_PARAMETERS = 2

/** The document shows neither parameters' names nor payload nor the limit behind 429. */
export const gatewayTest = defineEndpoint({
  name: 'gatewayTest',
  method: 'POST',
  path: '/swap/api/test',
  auth: 'schemeB',
  limit: { calls: 1, perMs: 1000, scope: 'uid', isAssumed: true },
  retry: 'protocol',
  section: 'Signed gateway',
  parts: 'queryAndBody',
  request: z.strictObject({
    query: z
      .record(z.string().min(1), z.string())
      .refine((query) => Object.keys(query).length === QUERY_PARAMETERS, 'two query parameters')
      .describe('Two query parameters, each signed under its own name'),
    body: z.record(z.string(), z.json()).describe('A JSON body, signed as its exact text'),
  }),
  response: z.unknown().describe('Not shown by the document'),
})
