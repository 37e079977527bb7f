import APNSProtocol
import EventLoop
import PostgreSQL
import Registrations
import TestKit

/// The changes that a reader or writer reports. Used on one loop.
final class ChangeRecorder {
    private(set) var changes: [StoreFault?] = []
    /// The number of changes at the last call of `considerAll`.
    private var consideredCount = 0

    func record(_ fault: StoreFault?) { changes.append(fault) }

    var isReady: Bool { changes.last.map { $0 == nil } ?? false }

    /// The fault of the last change; nil if the reader or writer is ready or has reported no change.
    var fault: StoreFault? { changes.last ?? nil }

    /// Returns the first fault of this code among the last change and the changes since the last call of `considerAll`.
    /// Returns nil if there is none. The reader or writer may have become ready after the fault.
    func fault(_ code: StoreFault.Code) -> StoreFault? {
        changes.dropFirst(max(0, min(consideredCount, changes.count - 1))).lazy.compactMap(\.self).first {
            $0.code == code
        }
    }

    func considerAll() { consideredCount = changes.count }
}

/// A client with the changes of its reader and writer. Used on one loop.
struct RecordedClient {
    let client: StoreClient
    let reader = ChangeRecorder()
    let writer = ChangeRecorder()

    init(_ client: StoreClient) {
        self.client = client
        client.reader.start(onChange: reader.record)
        client.writer.start(onChange: writer.record)
    }

    func waitUntilReady() async throws {
        try await client.loop.wait { reader.isReady && writer.isReady }
        considerAll()
    }

    /// Waits until both reader and writer have reported a fault of this code, and returns the fault of the writer.
    func fault(_ code: StoreFault.Code) async throws -> StoreFault? {
        try await client.loop.wait { reader.fault(code) != nil && writer.fault(code) != nil }
        return writer.fault(code)
    }

    private func considerAll() {
        reader.considerAll()
        writer.considerAll()
    }

    func fault(of commands: [RegistrationCommand]) async -> StoreFault? {
        do throws(StoreFault) {
            _ = try await client.apply(commands, rules: .test)
            return nil
        } catch {
            return error
        }
    }

    func fault(ofLookup queries: [DeviceQuery]) async -> StoreFault? {
        do throws(StoreFault) {
            _ = try await client.lookUp(queries)
            return nil
        } catch {
            return error
        }
    }
}

extension PostgresFixture {
    /// Calls `body` with a started client, and then closes the client.
    func withClient<Value: Sendable>(
        url: PostgresURL? = nil, password: @escaping PostgresPasswordSource = Self.password,
        limits: PostgresConfiguration.Limits = Self.generousLimits,
        _ body: @Sendable @escaping (RecordedClient) async throws -> Value
    ) async throws -> Value {
        let url = try url ?? self.url()
        return try await onEpollLoop { loop in
            let recorded = RecordedClient(try open(.sample(), on: loop, url: url, password: password, limits: limits))
            let result: Result<Value, any Error>
            do {
                result = .success(try await body(recorded))
            } catch {
                result = .failure(error)
            }
            await recorded.client.close()
            return try result.get()
        }
    }
}

extension RegistrationRules {
    /// Rules for one second after the start of the model.
    static let test = RegistrationRules(now: RegistrationModel.start + 1000)
}

extension DeviceQuery {
    /// Returns a query for all tokens of the kind `device` that a user has in production.
    static func all(of user: String, app: String = RegistrationModel.app) -> DeviceQuery {
        DeviceQuery(app: app, environment: .production, kind: .device, scope: nil, user: user)
    }
}
