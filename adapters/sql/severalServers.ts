/** All that only one of several servers needs. Loaded on demand: the embedded store has a single server. */
export * as SqlOwnership from "./SqlOwnership.ts"
export * as SqlRuleRequests from "./SqlRuleRequests.ts"
