/** The operator's socket: the server answers on it, and commands call the server by it. */
import { Data, Effect, Layer, Option, Schema } from "effect"
import * as Remote from "../adapters/remote/Remote.ts"
import * as OperatorSocket from "../adapters/runtimes/operatorSocket.ts"
import { Accounts } from "../core/accounts/Accounts.ts"
import { DeadLetters } from "../core/ingest/DeadLetters.ts"
import { Keys } from "../core/keys/Keys.ts"
import { StoreUnavailable } from "../core/model/Errors.ts"
import { unreadableRequest } from "../gateway/errors.ts"
import type { GatewayOptions } from "../gateway/gateway.ts"
import { type AnyOperation, answerOf, operationPath, operatorGateway, operatorOperations } from "../gateway/operator.ts"
import { storeSettings } from "./settings.ts"
import { VERSION } from "./version.ts"

/** Serves the operator on the socket in the data folder. On Postgres commands need none: they open the database. */
export const serveOperator = (options: GatewayOptions) =>
  Effect.gen(function* () {
    const { databaseUrl, dataDir } = yield* storeSettings
    if (Option.isSome(databaseUrl)) return
    const handler = yield* operatorGateway(options)
    yield* OperatorSocket.serve(dataDir, { handler, unreadable: unreadableRequest })
  })

/** How to reach the server that uses the data folder. None if there is no such server. */
export const runningServer = Effect.gen(function* () {
  const { databaseUrl, dataDir } = yield* storeSettings
  if (Option.isSome(databaseUrl)) return Option.none()
  const send = yield* OperatorSocket.connect(dataDir)
  return Option.map(send, (connected) => ({ send: connected }))
})

/** A client of the operator's door behind `Fetch`. Both sides must be of the same version. */
export const operatorClient = Effect.gen(function* () {
  const client = yield* Remote.keylessClient
  const { version } = yield* client.request({ method: "GET", path: "/", answer: ServerInfo })
  if (version !== VERSION) return yield* new OtherVersion({ server: version })
  return client
})

/** The use cases of commands, in the server behind `Fetch`. */
export const operatorUseCases = Layer.unwrapEffect(
  Effect.map(operatorClient, (client) => {
    const { keys, deadLetters, accounts } = operatorOperations
    return Layer.mergeAll(
      Layer.succeed(Keys, {
        ...methodsOf<Keys["Type"], keyof typeof keys>(client, "keys", keys),
        // No command calls these.
        authenticate: notOffered,
        issueFirst: notOffered(),
        adopt: notOffered
      }),
      Layer.succeed(
        DeadLetters,
        methodsOf<DeadLetters["Type"], keyof typeof deadLetters>(client, "deadLetters", deadLetters)
      ),
      Layer.succeed(Accounts, methodsOf<Accounts["Type"], keyof typeof accounts>(client, "accounts", accounts))
    )
  })
)

// ---- helpers ----

const ServerInfo = Schema.Struct({ version: Schema.String })

class OtherVersion extends Data.TaggedError("OtherVersion")<{ readonly server: string }> {
  override get message() {
    return `The server that uses the store is version ${this.server}, and this command is version ${VERSION}: restart the server, or run the command of its version`
  }
}

/** Methods of a service that call the server. Their types are those of the service: gateway/operator.ts checks it. */
const methodsOf = <Service, Method extends keyof Service>(
  client: Effect.Effect.Success<typeof operatorClient>,
  service: string,
  operations: Readonly<Record<Method, AnyOperation>>
): Pick<Service, Method> => {
  const methods = Object.entries<AnyOperation>(operations).map(([method, operation]) => {
    const path = operationPath(service, method)
    const call = (...args: ReadonlyArray<unknown>) =>
      client
        .request({
          method: "POST",
          path,
          body: { type: "application/json", content: JSON.stringify(Schema.encodeSync(operation.args)(args)) },
          answer: answerOf(operation)
        })
        .pipe(
          Effect.catchTags({
            RemoteUnreachable: (cause) => new StoreUnavailable({ operation: path, cause }),
            RemoteRefused: Effect.die
          }),
          Effect.flatten
        )
    return [method, call]
  })
  return Object.fromEntries(methods)
}

const notOffered = () => Effect.dieMessage("The operator's socket does not offer this")
