import APNSProtocol
import EventLoop
import JSON

/// What a process says once it listens.
struct Announcement {
    /// Where it listens, and for what.
    let endpoints: [(listener: Listener, endpoint: Endpoint)]
    /// Where the admin port is, if there is one.
    let admin: Endpoint?
    let options: Options
    let world: World

    /// One JSON object on one line.
    var readyLine: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("event", "ready")
        if let first = endpoints.first { json.member("host", first.endpoint.host) }
        for (listener, endpoint) in endpoints { json.member(listener.readyMember, Int(endpoint.port)) }
        if let admin { json.member("admin_port", Int(admin.port)) }
        json.beginArray("listeners")
        for (listener, endpoint) in endpoints {
            json.beginObject()
            listener.service.write(to: &json)
            json.member("host", endpoint.host)
            json.member("port", Int(endpoint.port))
            json.endObject()
        }
        json.endArray()
        if world.isDemonstrationState {
            json.member("team_id", Demonstration.teamID)
            json.member("key_id", Demonstration.keyID)
            json.member("topic", Demonstration.bundleID)
        }
        if let directory = options.demonstrationDirectory {
            func member(_ name: StaticString, _ file: DemonstrationFile) {
                json.member(name, "\(directory)/\(file.rawValue)")
            }
            if world.isDemonstrationState { member("key_file", .providerKey) }
            if options.certificateFile == nil { member("authority_file", .authority) }
            if world.isDemonstrationState {
                member("client_certificate_file", .clientCertificate)
                member("client_key_file", .clientKey)
            }
        }
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    /// How to point a client at it, in words.
    var advice: String {
        var lines = ["apns-simulator: HTTP/2 over TLS on"]
        for (listener, endpoint) in endpoints { lines.append("  https://\(endpoint) \(listener.service)") }
        if let admin { lines.append("  http://\(admin) admin: a page for people, an API for scripts") }
        if world.isDemonstrationState {
            lines += [
                "  team \(Demonstration.teamID), key \(Demonstration.keyID), topic \(Demonstration.bundleID)",
                "  device tokens: any hexadecimal; those that begin with \(Demonstration.unregisteredPrefix) are"
                    + " unregistered, with \(Demonstration.badPrefix) bad",
            ]
        }
        if let directory = options.demonstrationDirectory {
            if world.isDemonstrationState {
                lines += [
                    "  sign provider tokens with \(directory)/\(DemonstrationFile.providerKey.rawValue)",
                    "  or show the certificate \(directory)/\(DemonstrationFile.clientCertificate.rawValue) with"
                        + " \(DemonstrationFile.clientKey.rawValue)",
                ]
            }
            if options.certificateFile == nil {
                lines.append("  let the client trust \(directory)/\(DemonstrationFile.authority.rawValue)")
            }
        } else if world.isDemonstrationState || options.certificateFile == nil {
            lines.append("  --write-demo DIR writes the key and the authority that a client needs")
        }
        if options.certificateFile == nil {
            lines.append(
                "  its certificate is good for localhost, 127.0.0.1 and Apple's host names: a hosts entry is enough")
        }
        return lines.joined(separator: "\n")
    }
}
