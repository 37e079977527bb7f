import CommandKit
import Registrations
import TestKit

struct InstructionOptions {
    private static let devicesMax = 100
    /// The number of counted pushes.
    private static let pushes = 2000
    /// The number of pushes before those that are counted.
    private static let warmUpPushes = 3000

    let inFlight = 100
    /// The number of apps, in rotation. With several apps, every second app has a certificate, and the others have
    /// a key.
    var apps = 1
    /// The minimum number of credentials with several apps. Keys without an app are unused.
    let credentials = 64
    /// The number of devices of the user of each request; nil for requests to device tokens.
    var devices: Int?
    /// Whether to accept the new count.
    var accepts = false

    init(_ parsed: ParsedArguments) throws(UsageError) {
        apps = try parsed.integer("apps", upTo: 100) ?? apps
        devices = try parsed.integer("devices", upTo: Self.devicesMax)
        accepts = parsed.has("accept")
        if accepts, apps > 1 { throw UsageError("option --accept must be used with one app; remove --apps") }
        if accepts, devices != nil {
            throw UsageError("option --accept must be used with requests to device tokens; remove --devices")
        }
        if apps > 1, devices != nil { throw UsageError("options --apps and --devices cannot be used together") }
    }

    /// The number of counted requests.
    var messages: Int { Self.pushes / (devices ?? 1) }

    /// The number of requests before those that are counted.
    var warmUp: Int { Self.warmUpPushes / (devices ?? 1) }

    /// The number of counted pushes.
    var pushCount: Int { messages * (devices ?? 1) }

    /// The number of results and reports of a request. A request to one device has no report.
    var resultsPerRequest: Int {
        guard let devices, devices > 1 else { return 1 }
        return devices + 1
    }

    /// The users of the requests; nil for requests to device tokens.
    var users: UserGroup? {
        devices.map { UserGroup(name: "counted", count: warmUp + messages + inFlight, devices: $0) }
    }

    /// The recipients of the requests, for reports.
    var recipients: String {
        guard let devices else { return "\(apps) app\(apps == 1 ? "" : "s")" }
        return "users with \(devices) device\(devices == 1 ? "" : "s")"
    }

    /// Whether the count is the one in `deploy/check/instructions`.
    var isAccepted: Bool { apps == 1 && devices == nil }

    /// The options of the process that callgrind measures.
    var arguments: [String] { ["--apps", "\(apps)"] + (devices.map { ["--devices", "\($0)"] } ?? []) }

    /// The same options for requests to device tokens of one app.
    var ofOneApp: InstructionOptions {
        var options = self
        (options.apps, options.devices) = (1, nil)
        return options
    }

    static let apps = OptionSyntax(
        name: "apps", value: "N",
        help: "apps, in rotation (1); several apps may cost at most "
            + "\(InstructionCount.growthPercentMaxOfApps) % more than one app")
    static let devices = OptionSyntax(
        name: "devices", value: "N", help: "send the requests to users with N devices each, and count each push")
}
