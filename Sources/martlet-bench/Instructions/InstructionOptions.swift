import CommandKit
import TestKit

struct InstructionOptions {
    let messages = 2000
    let warmUp = 3000
    let inFlight = 100
    /// The number of apps, in rotation. With several apps, every second app has a certificate, and the others have
    /// a key.
    var apps = 1
    /// The minimum number of credentials with several apps. Keys without an app are unused.
    let credentials = 64
    /// Whether to accept the new count.
    var accepts = false

    init(_ parsed: ParsedArguments) throws(UsageError) {
        apps = try parsed.integer("apps", upTo: 100) ?? apps
        accepts = parsed.has("accept")
        if accepts, apps > 1 { throw UsageError("option --accept must be used with one app; remove --apps") }
    }

    static let apps = OptionSyntax(
        name: "apps", value: "N",
        help: "apps, in rotation (1); several apps may cost at most "
            + "\(InstructionCount.growthPercentMaxOfApps) % more than one app")
}
