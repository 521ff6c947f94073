/** A type that lists the differences between two routers. */
import type {
  AnyTRPCProcedure,
  AnyTRPCRouter,
  inferRouterError,
  inferRouterInputs,
  inferRouterOutputs
} from "@trpc/server"

/** `never` if the routers are equal. */
export type Differences<A extends AnyTRPCRouter, B extends AnyTRPCRouter> =
  | InRecord<A["_def"]["record"], B["_def"]["record"], "">
  | Unless<Same<inferRouterInputs<A>, inferRouterInputs<B>>, "inputs">
  | Unless<Same<inferRouterOutputs<A>, inferRouterOutputs<B>>, "outputs">
  | Unless<Same<inferRouterError<A>, inferRouterError<B>>, "errors">
  | Unless<Same<TransformerOf<A>, TransformerOf<B>>, "transformer">

// ---- helpers ----

/** Exact equality, including optional and readonly modifiers. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

type Unless<Condition extends boolean, Name extends string> = Condition extends true ? never : Name

type TransformerOf<A extends AnyTRPCRouter> = A["_def"]["_config"]["$types"]["transformer"]

type InRecord<A, B, Path extends string> = {
  [Key in (keyof A | keyof B) & string]: Key extends keyof A & keyof B
    ? InEntry<A[Key], B[Key], `${Path}${Key}`>
    : `${Path}${Key}`
}[(keyof A | keyof B) & string]

type InEntry<A, B, Path extends string> = A extends AnyTRPCProcedure
  ? B extends AnyTRPCProcedure
    ? InProcedure<A["_def"], B["_def"], Path>
    : Path
  : InRecord<A, B, `${Path}.`>

type InProcedure<A extends AnyTRPCProcedure["_def"], B extends AnyTRPCProcedure["_def"], Path extends string> =
  | Unless<Same<A["type"], B["type"]>, `type of ${Path}`>
  | Unless<Same<A["$types"]["input"], B["$types"]["input"]>, `input of ${Path}`>
  | Unless<Same<A["$types"]["output"], B["$types"]["output"]>, `output of ${Path}`>
