import EventLoop
import Testing

@testable import PostgreSQL

@Suite struct PostgresURLTests {
    private func endpoints(_ text: String) throws -> PostgresEndpointList { try PostgresURL(text).endpoints }

    @Test func severalHostsWithPorts() throws {
        let list = try endpoints("postgresql://push%40a@db1.example.com,[2001:db8::1]:5433,10.0.0.7/d%20b")
        #expect(
            list.hosts == [
                .tcp(Endpoint(host: "db1.example.com", port: 5432)), .tcp(Endpoint(host: "2001:db8::1", port: 5433)),
                .tcp(Endpoint(host: "10.0.0.7", port: 5432)),
            ])
        #expect(list.user == "push@a")
        #expect(list.database == "d b")
        #expect(list.security == .verifyFull(rootCertificate: PostgresURL.systemRootCertificate))
    }

    @Test func socketsNeedNoTLS() throws {
        let byParameter = try endpoints("postgres://martlet@:5433/push?host=/run/postgresql")
        #expect(byParameter.hosts == [.socket(directory: "/run/postgresql", port: 5433)])
        #expect(byParameter.security == .none)
        let byHost = try endpoints("postgresql://martlet@%2Frun%2Fpostgresql/push")
        #expect(byHost.hosts == [.socket(directory: "/run/postgresql", port: 5432)])
        #expect(byHost.hosts[0].description == "/run/postgresql/.s.PGSQL.5432")
    }

    @Test(arguments: ["localhost", "127.0.0.1", "127.1.2.3", "[::1]"])
    func loopbackNeedsNoTLS(host: String) throws {
        #expect(try endpoints("postgresql://a@\(host)/b").security == .none)
        #expect(try endpoints("postgresql://a@\(host)/b?sslmode=disable").security == .none)
        #expect(
            try endpoints("postgresql://a@\(host)/b?sslmode=verify-full&sslrootcert=%2Fca.pem").security
                == .verifyFull(rootCertificate: "/ca.pem"))
        #expect(
            try endpoints("postgresql://a@\(host)/b?sslrootcert=/ca.pem").security
                == .verifyFull(rootCertificate: "/ca.pem"))
    }

    @Test(arguments: ["127.example.com", "127.0.0.1.example.com", "10.0.0.1", "127.0.0.1,db.example.com"])
    func otherHostsNeedTLS(hosts: String) throws {
        #expect(
            try endpoints("postgresql://a@\(hosts)/b").security
                == .verifyFull(rootCertificate: PostgresURL.systemRootCertificate))
        #expect(throws: PostgresError.self) { try endpoints("postgresql://a@\(hosts)/b?sslmode=disable") }
    }

    @Test(
        arguments: [
            "mysql://a@h/b", "postgresql://h/b", "postgresql://a@/b", "postgresql://@h/b", "postgresql://a@h/",
            "postgresql://a@h", "postgresql://a@h:0/b", "postgresql://a@h:65536/b", "postgresql://a@h,,i/b",
            "postgresql://a@[::1/b", "postgresql://a@[::1]x/b", "postgresql://a@h/b?sslmode=require",
            "postgresql://a@h/b?sslmode=verify-ca", "postgresql://a@h/b?sslmode=prefer", "postgresql://a@h/b?other=1",
            "postgresql://a@h/b?sslmode=", "postgresql://a@h/b?host=/x", "postgresql://a@/b?host=x",
            "postgresql://a@h/b?sslmode=verify-full&sslmode=verify-full", "postgresql://a@h/%zz",
            "postgresql://a@h/%+1",
            "postgresql://a@h/%00", "postgresql://a@h/%ff", "postgresql://a@h/b#c",
            "postgresql://a@" + Array(repeating: "h", count: 17).joined(separator: ",") + "/b",
        ])
    func invalid(text: String) {
        let error = #expect(throws: PostgresError.self) { try PostgresURL(text) }
        #expect(error?.code == .invalidURL)
        #expect(error?.isRetriable == false)
    }

    @Test func aPasswordIsRefusedAndNotQuoted() {
        let error = #expect(throws: PostgresError.self) { try PostgresURL("postgresql://a:hunter2@localhost/b") }
        #expect(error?.message.contains("hunter2") == false)
        #expect(error?.message.contains("separate file") == true)
    }

    @Test func descriptionsOmitPasswords() {
        let password = PostgresPassword("hunter2")
        var dumped = ""
        dump(password, to: &dumped)
        for text in ["\(password)", String(reflecting: password), dumped] { #expect(!text.contains("hunter2")) }
    }
}
