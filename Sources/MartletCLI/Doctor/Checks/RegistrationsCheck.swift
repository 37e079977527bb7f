import APNSProtocol
import Configuration
import EventLoop
import Glibc
import PostgreSQL
import RegistrationStores
import Registrations
import SQLite
import Text

extension DoctorCheck {
    /// The check of the store of device registrations. It inspects a PostgreSQL server, performs a lookup, and reads a
    /// sample of the registrations. It returns no line if the configuration has mistakes or names no store.
    static let registrations = DoctorCheck(name: "registrations", secondsMax: 20) { context, loop, findings in
        guard let configuration = context.configuration, let settings = configuration.registrations else { return [] }
        switch settings.store {
        case .sqlite(let path):
            if let line = missingFile(path) { return [line] }
        case .postgresql(let url):
            let lines = await inspection(url, settings.password, lanes: configuration.laneCount, on: loop)
            for line in lines { findings.found(line) }
            guard !findings.lines.contains(where: { $0.state == .failure }) else { return [] }
        }
        let answer = await answer(of: settings, apps: configuration.apps, on: loop)
        guard answer.state == .ok else { return [answer] }
        findings.found(answer)
        do throws(StoreFault) {
            return try await RegistrationSample(settings, on: loop).lines(settings.keys, configuration.apps)
        } catch {
            return [line(of: error)]
        }
    }

    /// Returns a line if the file of an SQLite store does not exist; nil if the file exists.
    static func missingFile(_ path: String) -> DoctorLine? {
        guard access(path, F_OK) != 0 else { return nil }
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        guard access(folder.isEmpty ? "/" : folder, W_OK | X_OK) == 0 else {
            return .failure(
                "registrations", "cannot create \(path): its folder is missing, or this user cannot write to it",
                remedy: "run martlet doctor as the worker's user, or run: install -d -m 0750 -o martlet -g martlet "
                    + Shell.quoted(folder))
        }
        // The lock file remains after a worker or command has closed the store.
        guard access(SQLiteFile.lockPath(of: path), F_OK) != 0 else {
            return .failure(
                "registrations", "\(path) is missing, although its lock file exists",
                remedy: "stop the worker, then move the file back or restore it from a backup; to begin with an empty "
                    + "store, start a worker without the file")
        }
        return .unseen("registrations", "\(path) does not exist yet", remedy: "start a worker, which creates the file")
    }

    private static func inspection(
        _ url: PostgresURL, _ password: PostgresPassword?, lanes: Int, on loop: EpollLoop
    ) async -> [DoctorLine] {
        do throws(StoreFault) {
            return lines(try await PostgresInspection(loop: loop, url: url, password: { password }), lanes: lanes)
        } catch {
            return [line(of: error)]
        }
    }

    /// Returns the lines about an inspected store.
    ///
    /// - Parameter lanes: The number of lanes of a worker.
    static func lines(_ inspection: PostgresInspection, lanes: Int) -> [DoctorLine] {
        var lines: [DoctorLine] = []
        if inspection.serverVersion < PostgresInspection.serverVersionMin {
            lines.append(
                .failure(
                    "registrations", "PostgreSQL \(inspection.serverVersionText) is too old",
                    remedy: "upgrade the server to version \(PostgresInspection.serverVersionMin / 10_000) or later"))
        }
        if !inspection.missingRights.isEmpty {
            lines.append(
                .failure(
                    "registrations", "the user of registrations.store lacks \(inspection.missingRights)",
                    remedy: "run martlet registrations migrate --url URL, where URL names the owner of the schema"))
        }
        if !inspection.excessRights.isEmpty {
            lines.append(
                .warning(
                    "registrations",
                    "the user of registrations.store has rights that no worker needs: \(inspection.excessRights)",
                    remedy: "revoke them, or make another role the owner of the schema martlet"))
        }
        if !inspection.invalidIndexes.isEmpty {
            lines.append(
                .failure(
                    "registrations", "indexes are missing or invalid: \(inspection.invalidIndexes)",
                    remedy: "drop and create them as martlet registrations migrate --print shows, with CONCURRENTLY"))
        }
        // Each lane has a connection for lookups, and the worker has one for changes.
        let needed = lanes + 1
        if inspection.connectionsLeft < needed {
            lines.append(
                .warning(
                    "registrations",
                    "the server accepts \(inspection.connectionsLeft) further connections; a worker that starts or changes "
                        + "its configuration needs \(needed)",
                    remedy: "raise max_connections or the connection limit of the role, or run fewer lanes"))
        }
        guard lines.isEmpty else { return lines }
        return [
            .ok(
                "registrations",
                "PostgreSQL \(inspection.serverVersionText), with the rights of a worker, valid indexes, and room for "
                    + "\(inspection.connectionsLeft) further connections")
        ]
    }

    private static func answer(
        of settings: WorkerConfiguration.Registrations, apps: [WorkerConfiguration.App], on loop: EpollLoop
    ) async -> DoctorLine {
        do throws(StoreFault) {
            let password = settings.password
            let store = try RegistrationStore(settings.store, password: { password }, keys: settings.keys)
            let reader = try store.reader(on: loop)
            let begin = loop.now.monotonic
            let fault = await DoctorLookup(reader, app: apps.first?.bundleID ?? "-").fault()
            let milliseconds = begin.duration(to: loop.now.monotonic) / .milliseconds(1)
            await reader.close()
            if let fault { return line(of: fault) }
            return .ok("registrations", "the store answers a lookup after \(Int(milliseconds)) ms")
        } catch {
            return line(of: error)
        }
    }

    /// Returns the line of a fault. The remedy follows the first semicolon of the sentence.
    private static func line(of fault: StoreFault) -> DoctorLine {
        let parts = fault.sentence.split(separator: "; ", maxSplits: 1).map(String.init)
        let remedy = parts.count > 1 ? parts[1] : "check registrations.store"
        return .failure("registrations", parts.first ?? fault.sentence, remedy: remedy)
    }
}
