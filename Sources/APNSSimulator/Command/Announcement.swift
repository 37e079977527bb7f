import APNSProtocol
import EventLoop
import JSON

/// The texts that the process prints when it is ready.
struct Announcement {
    let endpoints: [(listener: Listener, endpoint: Endpoint)]
    /// The address of the admin port; nil if the port is off.
    let admin: Endpoint?
    let options: Options
    let startup: StartupData

    /// The ready line: one JSON object on one line.
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
        if startup.isDemonstrationState {
            json.member("team_id", Demonstration.teamID)
            json.member("key_id", Demonstration.keyID)
            json.member("topic", Demonstration.bundleID)
        }
        if let directory = options.demonstrationDirectory {
            func member(_ name: StaticString, _ file: DemonstrationFile) {
                json.member(name, "\(directory)/\(file.rawValue)")
            }
            if startup.isDemonstrationState { member("key_file", .providerKey) }
            if options.certificateFile == nil { member("authority_file", .authority) }
            if startup.isDemonstrationState {
                member("client_certificate_file", .clientCertificate)
                member("client_key_file", .clientKey)
            }
        }
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    /// Instructions for connecting a client.
    var instructions: String {
        var lines = ["apns-simulator: HTTP/2 over TLS on"]
        for (listener, endpoint) in endpoints { lines.append("  https://\(endpoint) \(listener.service)") }
        if let admin { lines.append("  http://\(admin) web page and admin API") }
        if startup.isDemonstrationState {
            lines += [
                "  team \(Demonstration.teamID), key \(Demonstration.keyID), topic \(Demonstration.bundleID)",
                "  device tokens: any hexadecimal digits; \(Demonstration.unregisteredPrefix)… is unregistered,"
                    + " \(Demonstration.badPrefix)… is bad",
            ]
        }
        if let directory = options.demonstrationDirectory {
            if startup.isDemonstrationState {
                lines += [
                    "  sign provider tokens with \(directory)/\(DemonstrationFile.providerKey.rawValue)",
                    "  or present the certificate \(directory)/\(DemonstrationFile.clientCertificate.rawValue) with"
                        + " \(DemonstrationFile.clientKey.rawValue)",
                ]
            }
            if options.certificateFile == nil {
                lines.append("  make the client trust \(directory)/\(DemonstrationFile.authority.rawValue)")
            }
        } else if startup.isDemonstrationState || options.certificateFile == nil {
            let missingFiles = [
                startup.isDemonstrationState ? "the key" : nil, options.certificateFile == nil ? "the authority" : nil,
            ].compactMap(\.self).joined(separator: " and ")
            lines.append("  to write \(missingFiles) for a client, pass --write-demo DIR")
        }
        if options.certificateFile == nil {
            lines.append(
                "  the server certificate is valid for localhost, 127.0.0.1 and Apple's host names, so that entries in "
                    + "/etc/hosts can redirect a client")
        }
        return lines.joined(separator: "\n")
    }
}
