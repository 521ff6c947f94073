import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import type { CommandInfo } from "../../cli/commandTree.ts"
import { problemIn } from "../../cli/usage.ts"

const command = (path: ReadonlyArray<string>, extra: Partial<CommandInfo> = {}): CommandInfo => ({
  path,
  about: "",
  details: [],
  options: [],
  args: [],
  subcommands: [],
  ...extra
})

const commands = [
  command(["matches"], {
    subcommands: [command(["matches", "redact"])],
    options: [
      { names: ["-f", "--follow"], value: Option.none(), choices: [], about: "", isOptional: true },
      { names: ["--rule"], value: Option.some("rule-id"), choices: [], about: "", isOptional: true },
      {
        names: ["--platform"],
        value: Option.some("x | firehose"),
        choices: ["x", "firehose"],
        about: "",
        isOptional: true
      }
    ]
  }),
  command(["syntax"], { args: [{ name: "<platform>", about: "", choices: ["x", "firehose"] }] }),
  command(["limit"], { args: [{ name: "<number>", about: "New limit", choices: [] }] }),
  command(["check"], {
    args: [{ name: "<filter>", about: "", choices: [] }],
    options: [
      {
        names: ["-p", "--platform"],
        value: Option.some("x | firehose"),
        choices: ["x", "firehose"],
        about: "The language of the filter",
        isOptional: false
      },
      { names: ["--name"], value: Option.some("text"), choices: [], about: "Its name", isOptional: false }
    ]
  }),
  command(["rules"], { subcommands: [command(["rules", "create"]), command(["rules", "delete"])] })
]

const off = { bluesky: "EARSHOT_BLUESKY=on", feeds: "EARSHOT_FEEDS=on" }

describe("problemIn", () => {
  const cases: ReadonlyArray<readonly [args: string, problem: string | undefined]> = [
    ["mathces", 'There is no command "earshot mathces": did you mean matches?'],
    ["rules remove x", 'There is no command "earshot rules remove": expected one of create, delete'],
    ["rules check nasa", 'There is no command "earshot rules check": did you mean earshot check?'],
    ["matches --folow", '"earshot matches" has no option --folow: did you mean --follow?'],
    ["--versoin", '"earshot" has no option --versoin: did you mean --version?'],
    ["rules --all", '"earshot rules" has no option --all: expected one of --help, -h, --version, --completions'],
    ["rules -v", '"earshot rules" has no option -v: expected one of --help, -h, --version, --completions'],
    ["--completions tcsh", "--completions: expected bash, zsh, fish or sh"],
    ["matches --follow --rule", "--rule needs a value: --rule <rule-id>"],
    ["matches --rule=", "--rule needs a value: --rule <rule-id>"],
    ["matches --platform", "--platform needs a value: x or firehose"],
    ["matches --platform twitter", '--platform: expected x or firehose, not "twitter"'],
    ["matches --platform=twitter", '--platform: expected x or firehose, not "twitter"'],
    ["matches extra", 'There is no command "earshot matches extra": expected one of redact'],
    ["feeds list", 'There is no command "earshot feeds": feeds is off: set EARSHOT_FEEDS=on for commands, too'],
    ["bluesky", 'There is no command "earshot bluesky": expected one of matches, syntax, limit, check, rules'],
    ["rules feeds", 'There is no command "earshot rules feeds": expected one of create, delete'],
    [
      "check --bluesky a",
      '"earshot check" has no option --bluesky: bluesky is off: set EARSHOT_BLUESKY=on for commands, too'
    ],
    [
      "matches --platform bluesky",
      '--platform: expected x or firehose, not "bluesky"; bluesky is off: set EARSHOT_BLUESKY=on for commands, too'
    ],
    ["syntax feeds", '"feeds": expected x or firehose; feeds is off: set EARSHOT_FEEDS=on for commands, too'],
    ["syntax y", '"y": expected x or firehose'],
    ["limit -5", 'Expected <number>, not "-5": New limit'],
    ["matches -5", '"earshot matches" has no option -5: expected one of -f, --follow, --rule, --platform'],
    ["check nasa", '"earshot check" needs --platform: add --platform x or --platform firehose'],
    ["check -p x -- --name", '"earshot check" needs --name: add --name <text>'],
    ["check --name=a nasa --platform x", undefined],
    ["matches -f --rule --odd --platform x", undefined],
    ["matches -- --folow", undefined],
    ["rules", undefined],
    ["--version", undefined]
  ]
  for (const [args, problem] of cases) {
    it(`for "${args}" is ${problem ?? "undefined"}`, () => {
      assert.strictEqual(problemIn(commands, args.split(" "), off), problem)
    })
  }
})
