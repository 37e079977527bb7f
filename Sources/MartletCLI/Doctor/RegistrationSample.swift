import APNSProtocol
import Configuration
import Crypto
import EventLoop
import RegistrationStores
import RegistrationTools
import Registrations
import SQLite
import Text

/// The first registrations of a store, in the order of their hashes. They show whether the key file fits the store, and
/// which environments the apps use.
struct RegistrationSample {
    private(set) var count = 0
    private(set) var unreadableCount = 0
    /// The environments of each app, by bundle ID.
    private(set) var environments: [String: Set<APNSEnvironment>] = [:]

    init(_ registrations: [Registration]) {
        for registration in registrations {
            guard let details = registration.details else { continue }
            count += 1
            if details.identity == nil { unreadableCount += 1 }
            environments[registration.app, default: []].insert(registration.environment)
        }
    }

    /// Reads the first page of a store. A worker may use the store meanwhile.
    init(_ settings: WorkerConfiguration.Registrations, on loop: EpollLoop) async throws(StoreFault) {
        let password = settings.password
        let store = try RegistrationStore(
            settings.store, password: { password }, keys: settings.keys, access: .readOnly)
        let session = StoreSession(
            try store.writer(on: loop), on: loop, devicesPerUserMax: settings.devicesPerUserMax)
        var sample = Self([])
        let result: Result<Void, StoreFault>
        do throws(StoreFault) {
            try await session.open()
            try await session.read(.all) { page in
                sample = Self(page)
                return false
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await session.close()
        try result.get()
        self = sample
    }

    func lines(_ keys: RegistrationKeys, _ apps: [WorkerConfiguration.App]) -> [DoctorLine] {
        [line(keys)] + apps.compactMap { line($0) }
    }

    private func line(_ keys: RegistrationKeys) -> DoctorLine {
        guard count > 0 else {
            return .unseen(
                "registrations", "no stored registration to test the key file with",
                remedy: "register a device, and run the check again")
        }
        guard unreadableCount == 0 else {
            return .failure(
                "registrations",
                "the key file cannot decrypt \(unreadableCount) of \(count) sampled registrations",
                remedy: "copy the key file of a worker that can, with all data keys, to this machine")
        }
        let summaries = (try? keys.dataKeySummaries()) ?? []
        return .ok(
            "registrations",
            "the key file decrypts \(count.counted("sampled registration")); data keys: "
                + summaries.map(\.text).joined(separator: ", "))
    }

    /// Returns a warning if the app has registrations in an environment for which it has no credential.
    private func line(_ app: WorkerConfiguration.App) -> DoctorLine? {
        let others = (environments[app.bundleID] ?? []).filter { app.credentials[$0] == nil }.map(\.rawValue).sorted()
        guard !others.isEmpty else { return nil }
        let environments = others.joined(separator: ", ")
        return .warning(
            "registrations",
            "\(app.bundleID) has registrations in \(environments), but no key or certificate for this environment",
            remedy: "correct environment in the backend's commands, or add a credential for \(environments)")
    }
}
