import APNSProtocol
import Configuration
import EventLoop
import Glibc
import PostgreSQL
import RegistrationStores
import Registrations
import Text

extension DoctorCheck {
    /// The check of the store of device registrations. It reads the version of a PostgreSQL server and the rights of
    /// the user, then performs a lookup. It returns no line if the configuration names no store.
    static let registrations = DoctorCheck(name: "registrations", secondsMax: 20) { context, loop, findings in
        guard let configuration = context.configuration, let settings = configuration.registrations else { return [] }
        switch settings.store {
        case .sqlite(let path):
            if let line = missingFile(path) { return [line] }
        case .postgresql(let url):
            for line in await rights(url, settings.password, on: loop) { findings.found(line) }
            guard !findings.lines.contains(where: { $0.state == .failure }) else { return [] }
        }
        return [await answer(of: settings, apps: configuration.apps, on: loop)]
    }

    /// Returns a line if the file of a SQLite store does not exist; nil if the file exists.
    static func missingFile(_ path: String) -> DoctorLine? {
        guard access(path, F_OK) != 0 else { return nil }
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        guard access(folder.isEmpty ? "/" : folder, W_OK | X_OK) == 0 else {
            return .failure(
                "registrations", "cannot create \(path): its folder is missing, or this user cannot write to it",
                remedy: "run martlet doctor as the worker's user, or run: install -d -m 0750 -o martlet -g martlet "
                    + Shell.quoted(folder))
        }
        return .unseen("registrations", "\(path) does not exist yet", remedy: "start a worker, which creates the file")
    }

    private static func rights(
        _ url: PostgresURL, _ password: PostgresPassword?, on loop: EpollLoop
    ) async -> [DoctorLine] {
        do throws(StoreFault) {
            return lines(try await PostgresInspection(loop: loop, url: url, password: { password }))
        } catch {
            return [line(of: error)]
        }
    }

    static func lines(_ inspection: PostgresInspection) -> [DoctorLine] {
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
        if inspection.mayChangeSchema {
            lines.append(
                .warning(
                    "registrations", "the user of registrations.store may change the schema",
                    remedy: "make another role the owner of the schema martlet, and revoke CREATE from this user"))
        }
        guard lines.isEmpty else { return lines }
        return [
            .ok("registrations", "PostgreSQL \(inspection.serverVersionText), with the rights of a worker")
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
