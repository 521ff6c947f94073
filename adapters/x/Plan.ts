/** The app's plan on X, as far as X shows it. */
import type { Language } from "../../core/languages/Language.ts"
import { x, xEnterprise } from "../../core/languages/x.ts"

export class Plan {
  private isEnterprise = false

  /** The rule length depends on the plan. */
  get language(): Language {
    return this.isEnterprise ? xEnterprise : x
  }

  current(): string {
    return this.isEnterprise ? ENTERPRISE : "other"
  }

  adopt(plan: string): void {
    this.isEnterprise = plan === ENTERPRISE
  }

  /** X names no plan, but only Enterprise has this many rules per project. */
  learn(rulesPerProject: number): void {
    this.isEnterprise = rulesPerProject >= ENTERPRISE_RULES
  }
}

// ---- helpers ----

const ENTERPRISE = "enterprise"

const ENTERPRISE_RULES = 25_000
