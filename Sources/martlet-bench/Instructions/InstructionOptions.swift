import CommandKit
import TestKit

/// What the command line asks for.
struct InstructionOptions {
    let messages = 2000
    let warmUp = 3000
    let inFlight = 100
    /// Over which the messages are spread; half of several by a key of their own, half by a certificate.
    var apps = 1
    /// Of several apps, at least: the other keys serve none.
    let credentials = 64
    /// What is counted becomes what is accepted.
    var accepts = false

    init(_ parsed: ParsedArguments) throws(UsageError) {
        apps = try parsed.integer("apps", upTo: 100) ?? apps
        accepts = parsed.has("accept")
        if accepts, apps > 1 { throw UsageError("what is accepted is the cost of one app's messages") }
    }

    static let apps = OptionSyntax(
        name: "apps", value: "N",
        help: "apps to which the messages go, each with a key of its own (1); may cost "
            + "\(InstructionCount.growthPercentMaxOfApps) % more")
}
