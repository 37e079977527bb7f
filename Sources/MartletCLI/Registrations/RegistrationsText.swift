import APNSProtocol
import CommandKit
import JSON
import RegistrationTools
import Registrations
import Text

/// The output of commands on registrations, as tables and JSON. Device tokens are shortened unless `reveals` is true.
enum RegistrationsText {
    /// Help about the exit codes of commands that use the store.
    static let exitCodes = """
        Exit code 0: done, 1: failed or incomplete, 3: the store is unreachable.
        """

    /// Help about the single writer of an SQLite store.
    static let sqliteWriters = """
        While a worker uses a SQLite store, the command sends its changes to the control socket of the worker: run it on
        the machine and as the user of the worker.
        """

    private static let titles = [
        "APP", "ENVIRONMENT", "KIND", "SCOPE", "TOKEN", "DEVICE", "PLATFORM", "REGISTERED", "STATE",
    ]
    /// Columns that a narrow window shortens or omits, in this order.
    private static let economies: [FittedTable.Economy] = [
        ("PLATFORM", 0), ("SCOPE", 8), ("DEVICE", 10), ("APP", 12), ("ENVIRONMENT", 4), ("SCOPE", 0), ("DEVICE", 0),
    ]

    /// Returns a table with one row for each registration.
    ///
    /// - Parameters:
    ///   - hasUsers: whether the table has a column of users.
    ///   - now: the current time in UNIX milliseconds.
    ///   - width: the width of the window in columns; nil for no limit.
    static func table(
        _ registrations: [Registration], hasUsers: Bool, reveals: Bool, now: Int64, width: Int? = nil
    ) -> String {
        let titles = (hasUsers ? ["USER"] : []) + titles
        let rows = registrations.map { registration in
            let identity = registration.details?.identity
            return (hasUsers ? [identity?.user ?? "-"] : []) + [
                registration.app, registration.environment.rawValue, registration.kind.rawValue,
                identity?.scope ?? "-", identity.map { shown($0.token, reveals: reveals) } ?? "-",
                identity?.deviceID ?? "-", registration.details?.platform?.rawValue ?? "-",
                WatchTable.duration(max(0, registration.ageMilliseconds(at: now))), registration.stateWord(now: now),
            ]
        }
        let table = FittedTable(titles: titles, fitting: rows, width: width, economies)
        return ([table.header] + rows.map(table.line)).map { $0 + "\n" }.joined()
    }

    static func json(_ registration: Registration, reveals: Bool, now: Int64) -> String {
        let details = registration.details
        var json = JSONWriter()
        json.beginObject()
        if let user = details?.identity?.user { json.member("user", user) }
        json.member("app", registration.app)
        json.member("environment", registration.environment.rawValue)
        json.member("kind", registration.kind.rawValue)
        if let scope = details?.identity?.scope { json.member("scope", scope) }
        if let token = details?.identity?.token { json.member("device_token", shown(token, reveals: reveals)) }
        if let deviceID = details?.identity?.deviceID { json.member("device_id", deviceID) }
        if let platform = details?.platform { json.member("platform", platform.rawValue) }
        json.member("registered_at", registration.registeredAt)
        if let expiresAt = details?.expiresAt { json.member("expires_at", expiresAt) }
        if registration.key.slot != Registration.Key.unshared { json.member("shared", true) }
        if let suspicion = details?.suspicion { json.member("suspicions", suspicion.count) }
        json.member("state", registration.stateWord(now: now))
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    /// Returns a table with one row for each group, and a last line with the totals.
    static func table(_ groups: RegistrationGroups) -> String {
        let rows = groups.sorted.map { ["\($0.count)", "\($0.suspendedCount)"] + $0.values }
        let titles = ["COUNT", "SUSPENDED"] + groups.keys.map { $0.rawValue.uppercased() }
        let table = TextTable(titles: titles, fitting: rows)
        let lines = rows.isEmpty ? [] : [table.header] + rows.map(table.line)
        return (lines + ["\(groups.count) registrations, \(groups.suspendedCount) suspended"])
            .map { $0 + "\n" }.joined()
    }

    /// Returns one line of JSON for each group.
    static func json(_ groups: RegistrationGroups) -> [String] {
        groups.sorted.map { group in
            var json = JSONWriter()
            json.beginObject()
            for (key, value) in zip(groups.keys, group.values) {
                json.key(key.rawValue)
                json.string(value)
            }
            json.member("count", group.count)
            json.member("suspended", group.suspendedCount)
            json.endObject()
            return String(decoding: json.bytes, as: UTF8.self)
        }
    }

    /// Returns the record of an erasure as JSON.
    static func json(_ erasure: Erasure, _ outcome: Erasure.Outcome, reveals: Bool) -> String {
        var json = JSONWriter()
        json.beginObject()
        json.member("user", erasure.user)
        if let app = erasure.app { json.member("app", app) }
        json.member("erased_at", outcome.at)
        json.member("outcome", outcome.reply.rawValue)
        json.beginArray("registrations")
        for event in outcome.events {
            json.raw(reveals ? event : withShortenedToken(event))
        }
        json.endArray()
        if outcome.unreadableCount > 0 { json.member("unreadable", outcome.unreadableCount) }
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private static func withShortenedToken(_ event: [UInt8]) -> [UInt8] {
        guard let token = (try? JSONDocument(event).root)?["device_token"], let text = token.string else {
            return DeviceToken.shortened(in: event)
        }
        var event = event
        event.replaceSubrange(token.sourceRange, with: "\"\(shown(text, reveals: false))\"".utf8)
        return event
    }

    /// Returns the summary of an import as JSON.
    static func json(_ counts: ImportCounts, lastLine: Int) -> String {
        var json = JSONWriter()
        json.beginObject()
        json.member("event", "summary")
        counts.write(to: &json)
        json.member("last_line", lastLine)
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    static func printUnreadable(_ count: Int) {
        Terminal.error.line(
            "martlet: cannot decrypt \(count.counted("registration")): a data key is missing; add the missing data keys to "
                + "keys_file")
    }

    private static func shown(_ token: String, reveals: Bool) -> String {
        reveals ? token : DeviceToken.shortened(token.utf8)
    }
}

extension Registration {
    /// Returns the word for the state in tables and JSON.
    fileprivate func stateWord(now: Int64) -> String {
        guard let details else { return "ended" }
        if details.identity == nil { return "unreadable" }
        if details.expiresAt.map({ $0 <= now }) ?? false { return "expired" }
        return details.suspicion?.isSuspension ?? false ? "suspended" : "live"
    }
}
