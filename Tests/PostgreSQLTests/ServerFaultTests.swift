import Crypto
import EventLoop
import Glibc
import TestKit
import Testing

@testable import PostgreSQL

/// Connections to servers that refuse, fail, freeze and fail over.
@Suite(.serialized, .postgres) struct ServerFaultTests {
    private static let ping = PreparedStatement("SELECT 1")
    private static let endlessSleep = PreparedStatement("SELECT pg_catalog.pg_sleep(3600)")
    private static let withoutPassword: @Sendable (inout PostgresConfiguration) -> Void = { $0.password = { nil } }
    private static let withAnswerLimit: @Sendable (inout PostgresConfiguration) -> Void = {
        $0.limits.answerMillisecondsMax = 2000
    }
    private static let forReading: @Sendable (inout PostgresConfiguration) -> Void = { $0.requiresWrites = false }

    @Test func loginsThatTheServerRefuses() async throws {
        let server = try #require(PostgresServerTrait.server)
        let url = server.url
        try await withConnection([Self.ping], url: url) { connection in
            try await connection.waitUntilReady()
            try await connection.run(0)
        }
        let wrong = try await connectFailure(url: url) { $0.password = { PostgresPassword("wrong secret") } }
        #expect(wrong.state?.description == "28P01")
        #expect(wrong.outcome == .refused)
        #expect(wrong.message.hasPrefix("127.0.0.1:"))
        #expect(!wrong.message.contains("secret"))
        let missing = try await connectFailure(url: url, Self.withoutPassword)
        #expect(missing.code == .passwordMissing)
        let unknown = try await connectFailure(url: url.replacing("/push", with: "/missing"))
        #expect(unknown.state?.description == "3D000")
        #expect(unknown.outcome == .databaseMissing)
        try await withConnection([PreparedStatement("SELECT 1 FROM public.missing")], url: url) { connection in
            let error = try await connection.nextFailure()
            #expect(error.state?.description == "42P01")
            #expect(throws: error) {
                try connection.execute(0, PostgresParameters(), receiver: StatementReceiver())
            }
        }
        // The server does not accept TLS.
        let plain = try await connectFailure(url: url + "?sslmode=verify-full&sslrootcert=/etc/hostname")
        #expect(plain.code == .tls)
        let socket = "postgresql://martlet@:\(server.port)/push?host=\(server.directory)"
        try await withConnection([Self.ping], url: socket, Self.withoutPassword) { connection in
            try await connection.waitUntilReady()
            try await connection.run(0)
        }
    }

    /// A password that a test replaces between two attempts to connect.
    ///
    /// `@unchecked Sendable`: used on one loop only.
    private final class ChangingPassword: @unchecked Sendable {
        var text = "wrong"
    }

    @Test func aNewPasswordIsUsedByTheNextAttempt() async throws {
        let server = try #require(PostgresServerTrait.server)
        let password = ChangingPassword()
        try await withConnection(
            url: server.url,
            {
                $0.password = { PostgresPassword(password.text) }
                $0.limits.retryMillisecondsMax = 100
            },
            { connection in
                _ = try await connection.nextFailure()
                password.text = PrivatePostgres.password
                try await connection.waitUntilReady()
            })
    }

    @Test func nothingListens() async throws {
        let port = try FreePort.choose()
        let error = try await connectFailure(url: "postgresql://a@localhost:\(port)/b")
        #expect(error.code == .unreachable)
        #expect(error.isRetriable)
        let unknown = try await connectFailure(url: "postgresql://a@name.invalid/b")
        #expect(unknown.message.hasPrefix("name.invalid:5432: "))
    }

    /// The kernel answers no connection attempt to a listener whose queue is full.
    @Test func aServerThatDoesNotAnswer() async throws {
        let listener = try UnansweredListener()
        let error = try await withConnection(url: "postgresql://a@127.0.0.1:\(listener.port)/b") { connection in
            // The attempt to connect does not block the loop.
            var iterations = 0
            while connection.status == .connecting {
                await connection.loop.sleep(for: .milliseconds(1))
                iterations += 1
            }
            #expect(iterations > 1)
            return try await connection.nextFailure()
        }
        listener.close()
        #expect(error.code == .timedOut)
    }

    @Test func aKilledServer() async throws {
        let server = try #require(PostgresServerTrait.server)
        let url = server.url
        try await withConnection([Self.ping, Self.endlessSleep], url: url) { connection in
            try await connection.waitUntilReady()
            let (lost, behind) = (connection.send(1), connection.send(0))
            try await server.waitUntilSleeping()
            try await server.kill()
            #expect(try await connection.error(of: lost)?.outcome == .unreachable)
            #expect(try await connection.error(of: behind)?.outcome == .unreachable)
            #expect(try await connection.nextFailure().outcome == .unreachable)
            try await server.start()
            try await connection.waitUntilReady()
            try await connection.run(0)
        }
    }

    @Test func aTransactionEndsWithItsConnection() async throws {
        let server = try #require(PostgresServerTrait.server)
        let url = server.url
        try await withConnection([Self.ping], url: url) { connection in
            try await connection.waitUntilReady()
            let transaction = try connection.begin()
            try await connection.run(0, in: transaction)
            try await server.stop()
            #expect(try await connection.nextFailure().outcome == .unreachable)
            try await server.start()
            try await connection.waitUntilReady()
            #expect(await connection.error(of: 0, in: transaction)?.code == .transactionFailed)
            #expect(throws: PostgresError.self) { try connection.rollBack(transaction) }
            try await connection.run(0)
        }
    }

    @Test func aFrozenServer() async throws {
        let server = try #require(PostgresServerTrait.server)
        let url = server.url
        try await withConnection([Self.ping], url: url, Self.withAnswerLimit) { connection in
            try await connection.waitUntilReady()
            await server.pause()
            let began = ContinuousClock.now
            #expect(await connection.error(of: 0)?.code == .timedOut)
            #expect(ContinuousClock.now - began > .milliseconds(1900))
            // The kernel accepts the connection, but the server does not answer.
            try await connection.loop.wait { connection.status == .connecting }
            #expect(try await connection.nextFailure().code == .timedOut)
            await server.resume()
            try await connection.waitUntilReady()
            try await connection.run(0)
        }
    }

    /// Blocks the loop for longer than the response limit, before and after a statement is sent.
    @Test func aLongIterationLosesNoConnection() async throws {
        let url = try #require(PostgresServerTrait.server).url
        try await withConnection([Self.ping], url: url, Self.withAnswerLimit) { connection in
            try await connection.waitUntilReady()
            let limit = Double(connection.configuration.limits.answerMillisecondsMax) / 1000
            func block() { usleep(useconds_t(1.2 * limit * 1_000_000)) }
            block()
            let first = connection.send(0)
            block()
            #expect(try await connection.error(of: first) == nil)
            let second = connection.send(0)
            await connection.loop.sleep(for: .zero)
            block()
            #expect(try await connection.error(of: second) == nil)
            #expect(connection.isReady)
        }
    }

    @Test func aStandbyIsRefusedUntilItsPromotion() async throws {
        try await PrivatePostgres.with { primary in
            try await PrivatePostgres(standbyOf: primary).use { try await Self.failOver(from: primary, to: $0) }
        }
    }

    private static func failOver(from primary: PrivatePostgres, to standby: PrivatePostgres) async throws {
        let standbyURL = standby.url
        let refused = try await connectFailure(url: standbyURL)
        #expect(refused.outcome == .readOnly)
        try await withConnection([ping], url: standbyURL, forReading) { connection in
            try await connection.waitUntilReady()
            try await connection.run(0)
        }
        let both = "postgresql://martlet@127.0.0.1:\(standby.port),127.0.0.1:\(primary.port)/push"
        try await withConnection([ping], url: both) { connection in
            try await connection.waitUntilReady()
            #expect(connection.status == .ready(.tcp(Endpoint(host: "127.0.0.1", port: primary.port))))
            try await primary.kill()
            try await standby.promote()
            try await connection.loop.wait {
                connection.status == .ready(.tcp(Endpoint(host: "127.0.0.1", port: standby.port)))
            }
            try await connection.run(0)
        }
    }

    @Test func aServerThatBecomesReadOnlyIsLeft() async throws {
        let server = try #require(PostgresServerTrait.server)
        let url = server.url
        try await server.sql("CREATE TABLE written (n int); GRANT ALL ON written TO martlet")
        let statements = [
            PreparedStatement("SET default_transaction_read_only = on"),
            PreparedStatement("INSERT INTO public.written VALUES (1)"),
        ]
        try await withConnection(statements, url: url) { connection in
            try await connection.waitUntilReady()
            try await connection.run(0)
            #expect(await connection.error(of: 1)?.outcome == .readOnly)
            #expect(connection.failure?.outcome == .readOnly)
            try await connection.waitUntilReady()
            try await connection.run(1)
        }
    }

    @Test func namesInCertificates() async throws {
        let authority = try CertificateAuthority.make(name: "Database authority")
        let directory = try TemporaryDirectory("postgres-tls")
        let root = try directory.write("ca.pem", authority.certificatePEM)
        let other = try directory.write("other.pem", try CertificateAuthority.make(name: "Other").certificatePEM)
        let certificate = try authority.issueServer(dnsNames: ["localhost"])
        try await PrivatePostgres(certificate: certificate).use { server in
            let (path, port) = ("/push?sslmode=verify-full&sslrootcert=", server.port)
            let big = PreparedStatement("SELECT repeat('x', 1000) FROM generate_series(1, 10000)")
            let encrypted = PreparedStatement(
                "SELECT ssl FROM pg_catalog.pg_stat_ssl WHERE pid = pg_catalog.pg_backend_pid()")
            try await withConnection([big, encrypted], url: "postgresql://martlet@localhost:\(port)\(path)\(root)") {
                connection in
                try await connection.waitUntilReady()
                let isEncrypted = try await connection.run(1) { rows throws(PostgresError) in
                    try rows.value(Bool.self, row: 0, column: 0)
                }
                #expect(isEncrypted)
                #expect(try await connection.run(0) { $0.count } == 10_000)
            }
            for url in [
                "postgresql://martlet@127.0.0.1:\(port)\(path)\(root)",
                "postgresql://martlet@localhost:\(port)\(path)\(other)",
                "postgresql://martlet@localhost:\(port)\(path)/missing",
            ] {
                let error = try await connectFailure(url: url)
                #expect(error.code == .tls)
                #expect(!error.isRetriable)
            }
        }
    }

    @Test func closingWithStatementsInFlight() async throws {
        let server = try #require(PostgresServerTrait.server)
        let url = server.url
        let waiting = PreparedStatement("SELECT pg_catalog.pg_advisory_lock(7)")
        try await withConnection([waiting, Self.ping], url: url) { connection in
            let holder = try startConnection(
                [waiting, PreparedStatement("SELECT pg_catalog.pg_advisory_unlock(7)")], url: url,
                loop: connection.loop)
            try await holder.waitUntilReady()
            try await holder.run(0)
            try await connection.waitUntilReady()
            let slow = connection.send(0)
            let transaction = try connection.begin()
            let opened = connection.send(1, in: transaction)
            try await server.waitUntilWaiting(for: "advisory")
            connection.handle(.close(deadlineSeconds: TestTimeout.seconds))
            #expect(connection.status == .closing)
            #expect(await connection.error(of: 1)?.code == .closed)
            try await holder.run(1)
            // The open transaction can still be committed.
            try await connection.commit(transaction)
            await connection.close()
            #expect(slow.isComplete && slow.error == nil)
            #expect(opened.isComplete && opened.error == nil)
            #expect(connection.status == .closed)
            #expect(await connection.error(of: 1)?.code == .closed)
            await holder.close()
        }
        try await withConnection([Self.endlessSleep], url: url) { connection in
            try await connection.waitUntilReady()
            let slow = connection.send(0)
            try await server.waitUntilSleeping()
            await connection.close(deadlineSeconds: 0)
            #expect(slow.error?.code == .closed)
        }
    }

    @Test func theHandlerSeesEachStatus() async throws {
        final class Recorder: PostgresConnectionHandler {
            var seen: [PostgresStatus] = []
            override func statusChanged(_ status: PostgresStatus) { seen.append(status) }
        }
        let server = try #require(PostgresServerTrait.server)
        let url = server.url
        try await onEpollLoop { loop in
            let configuration = PostgresConfiguration(
                endpoints: try PostgresURL(url).endpoints, statements: [],
                password: { PostgresPassword(PrivatePostgres.password) })
            let connection = try PostgresConnection(loop: loop, configuration: configuration)
            let recorder = Recorder()
            connection.start(recorder)
            try await connection.waitUntilReady()
            try await server.restart()
            let ready = PostgresStatus.ready(configuration.endpoints.hosts[0])
            try await loop.wait { recorder.seen.count { $0 == ready } == 2 }
            await connection.close()
            #expect(recorder.seen.prefix(2) == [.connecting, ready])
            #expect(recorder.seen.suffix(4) == [.connecting, ready, .closing, .closed])
            guard case .waiting(let error) = recorder.seen[2] else {
                Issue.record("seen: \(recorder.seen)")
                return
            }
            #expect(error.outcome == .unreachable)
        }
    }

    @Test func aLoopMayEndFirst() async throws {
        let server = try #require(PostgresServerTrait.server)
        let url = server.url
        try await onEpollLoop { loop in
            let configuration = PostgresConfiguration(
                endpoints: try PostgresURL(url).endpoints, statements: [],
                password: { PostgresPassword(PrivatePostgres.password) })
            let connection = try PostgresConnection(loop: loop, configuration: configuration)
            connection.start()
            try await connection.waitUntilReady()
        }
        try await poll(until: "the connection is closed") {
            try await server.sql("SELECT count(*) FROM pg_stat_activity WHERE usename = 'martlet'") == ["0"]
        }
    }
}
