/** An import would also load Node's own fetch, which takes 35 ms of CPU at each start. */
export const { createServer, request } = process.getBuiltinModule('node:http')
