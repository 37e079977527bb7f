import Crypto

/// A certificate that `openssl req` has made, and the files that `openssl pkcs12` and `openssl pkcs8` make of it; all are
/// for the passphrase `secret`.
enum SampleCertificates {
    static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIB9zCCAZ2gAwIBAgIUPTm/DVnCaTv+L4LcSTjLpSjidm0wCgYIKoZIzj0EAwIw
        UDEfMB0GCgmSJomT8ixkAQEMD2NvbS5leGFtcGxlLmFwcDEtMCsGA1UEAwwkQXBw
        bGUgUHVzaCBTZXJ2aWNlczogY29tLmV4YW1wbGUuYXBwMCAXDTI2MTEyMzExNDEw
        OFoYDzIxMjYxMDMwMTE0MTA4WjBQMR8wHQYKCZImiZPyLGQBAQwPY29tLmV4YW1w
        bGUuYXBwMS0wKwYDVQQDDCRBcHBsZSBQdXNoIFNlcnZpY2VzOiBjb20uZXhhbXBs
        ZS5hcHAwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQ5XjjIl0t78dxENzYkIcYI
        ReFevZk2pUdjdEfWoPe5NohxBNQ/7vrdQ94YmCRVOY7HjBkbkiTBso5y6SX0o+qz
        o1MwUTAdBgNVHQ4EFgQUtF0X7jel16XOIeJXJ8y4dYQkw9QwHwYDVR0jBBgwFoAU
        tF0X7jel16XOIeJXJ8y4dYQkw9QwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQD
        AgNIADBFAiAFr+ua+KofBjVlMWhDVAVYQ5JAAUOfIksGRskSlKt+bwIhAMy3GKW1
        ZaMAgvoCUDdl89vmfqj8k1Py047mwS9MmKsm
        -----END CERTIFICATE-----

        """

    static let another = """
        -----BEGIN CERTIFICATE-----
        MIIBezCCASGgAwIBAgIUBOLoh9w5ErpsIMlTDQJn/AMnuUgwCgYIKoZIzj0EAwIw
        EjEQMA4GA1UEAwwHQW5vdGhlcjAgFw0yNjExMjMxMTQxMDhaGA8yMTI2MTAzMDEx
        NDEwOFowEjEQMA4GA1UEAwwHQW5vdGhlcjBZMBMGByqGSM49AgEGCCqGSM49AwEH
        A0IABLMaPYvK38k3UpIDCygGBGDamd2pofxQTvGi07jpKI6v7fDTluY9ky2Z2Bcc
        i5VxUNjunH8ROJoH9Rg66KzhB7+jUzBRMB0GA1UdDgQWBBRBNK6/1n74DI/Qze82
        nlqf992NzzAfBgNVHSMEGDAWgBRBNK6/1n74DI/Qze82nlqf992NzzAPBgNVHRMB
        Af8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIAf8f9fctfKgYHrJto+hlRCiDhSi
        VW35HfUDcKQAtXUVAiEAnaUGrylvzjLNsawu+MRl7F+6XJ6t4kmSOq8JmhZPQFI=
        -----END CERTIFICATE-----

        """

    static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgCsSOUvt3v65hSB9g
        3mzQ1oxo4Bj4giWKXXv5RzzMiVWhRANCAAQ5XjjIl0t78dxENzYkIcYIReFevZk2
        pUdjdEfWoPe5NohxBNQ/7vrdQ94YmCRVOY7HjBkbkiTBso5y6SX0o+qz
        -----END PRIVATE KEY-----

        """

    static let encryptedKey = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAiSg0aDnjbUgwICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEENJri8SRKtKF0vRXkJIYPmQEgZCb
        YBAVAW0nr/wA4enpTpP2FRkItGYrBcrKfyQuNZlEbDA32SnDZjbJuaX1vkHdHrK2
        kHQP8SmOnP+mXzKdja0eqtwDatL8P1uVeiNsRBq5LqZxvWXqsQff6STqBuulWVOI
        MhU54rnE4HfjGYKVZU4UkXvmlhShDrYKcUMsMIYNF2YSM6VG3abwzK+V2Akq8VI=
        -----END ENCRYPTED PRIVATE KEY-----

        """

    /// With `another` beside it.
    static let pkcs12 = bytes(
        """
        MIIGLAIBAzCCBeIGCSqGSIb3DQEHAaCCBdMEggXPMIIFyzCCBIIGCSqGSIb3DQEHBqCCBHMwggRvAgEAMIIEaAYJKoZIhvcNAQcB
        MFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgwVjq5JPAL7QICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEECFx
        NC27uOn+kGaaxSNlKGqAggQA2PJWZGKR8e9io+P0TKmYdfUpgGCOxMG71VUMgCON3IaHUzHRfwC87bbrrTCIklIV8MOLeJn2ayww
        oDVOO/X25OTuwrxQ6Mdsvtaj9HaVpjcVCQXNir9kghGKDCS6Fg4jYYcOmAgVMOXbMqxrDZJjF4cyIjusywIQm0a6D5GU14aMeSnJ
        msRfvj5vneVK9i98aCfYmnpT2xTIiQFaV5CNTgdcBHqlDe6U0fYp956XoFjkvkTSf98m8BcyiOWVyVSeEZMgnj3HTcMct6O69qSL
        ojQpM3m0CK74TaOSOFLem7W52+C7hiRuYEi+LuaNxjv3S4DNPzXgc9lUzfq0tbmIaEtyvEn3HYedoso+w6e7T4oe0fAJDNZ6wT1Z
        4zBDEhuqHz243V+uT5xAbZ0Lfv9b1FWR2KsQXoPI+GCuuIE2DJ94m3BixroFEBGDJafjgV7ANFwQUHL+lPveY17oXZg5JwVtYiDC
        p6GIv+3zP64ZaBqRNxBrKsMBodEfPKqZTHYGyjfeLz0leIl/hJ5jQ8UN1krcTh1LyC10iCX8cvWkcF4tYlAztu6qXF2GuR5p5Pl5
        QW3LZUKkJ0RS8lm9AaRfM+ItR6ONYte68LTAKp3e88ne5mMgaw8cKjdL1vL/iGjw6a+RQxchlFM7yIv7L7NAzrGU4evaYD9/ZtRI
        /BmZCdv5Sx9ERzAMAqCDgiMG2u5Y0aRIlbqzY8lDbC5sZqqWgXdX1Z2LXkqRNHD8Molc0lP5pndLKSAxFpVH8yU6Rwgx74YfiZei
        d2bDmi0o5tntgpmGb3ki0N5aO84KgAJKL/PJQzKXSKnWgTORk0/o2vnrIxpdEnswGAsNQqP0l7B7UnFXQOZFr0eU8wK0fWv63/wB
        Jo2J83sTp1mvnyloP8sNUYdlSZ3nZCBUIrFnnFT6h7oSysU2oZjpxDP9L2L16TQIH3TGqdDcwJMmHM38kC1uRBeH4uJG6TesmDDc
        7OoyZHkjOLl570D6uIXaoCFOIYq4U5AjV5S3EeqPwYpOy7BiPm2wUnx7NIPIzHJSSGz3s4fvACsp6zSUfAEj3K2EWz6AH4y2drQF
        VWTQmxlY7HXENBwHaovTZmTsOdS5z+zCUsCSDBnFf/xOAvcIZXVscBcP9+bJkR0/AZhIxOY0gKK2YL+10n3eFZNB67YE8/OEXCDO
        u6jVkiV+XHNWavmDmE1uC+zYJzvIyvR66hcwHHxP2BOwA1jngnP3LQG3Dy7zY4K/Q7ffjC+7H2xA1fR8J20XkdYbKZ7s5e++emRc
        zb0G++KkugiJ/WFWv+elEkshNRJBD1GmZfww7LdFp5RbLoNZXpiM405nzxXxIIqNWPG6U6mbIegLZX8UuH9Q5rxiQzCCAUEGCSqG
        SIb3DQEHAaCCATIEggEuMIIBKjCCASYGCyqGSIb3DQEMCgECoIHvMIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgB
        8+InY0G3ywICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEGL+5dhJEPnxYThvsS47Ov0EgZBXB0E700qyxWH2hufxfCXo
        7MOEssEXSje5Dtb88G9UX9EavUNy9gpV6KB2tHkGGUKtqCySKOcfdfxJBFXPd4xNFmMVbbj9zQVGw1MsYSQ31vPelbWmndugyNK7
        1ntG4fWk3c4Tx6BPZrl0oSEucBT7a9ZAj0GVQYJ+RWetxxFvMgaGsn4uTWmQO8VDWPtFw30xJTAjBgkqhkiG9w0BCRUxFgQUfJSX
        dfRTPpb0y4NbjsYHNuao34QwQTAxMA0GCWCGSAFlAwQCAQUABCB6TRUrJyvCh1uikeA3FKIbwt2p/GOyimgsh9BJBe4RFQQIhyxO
        HILAp1MCAggA
        """)

    /// `-legacy`: as macOS's keychain writes it, with 40-bit RC2.
    static let keychain = bytes(
        """
        MIID+gIBAzCCA8AGCSqGSIb3DQEHAaCCA7EEggOtMIIDqTCCAp8GCSqGSIb3DQEHBqCCApAwggKMAgEAMIIChQYJKoZIhvcNAQcB
        MBwGCiqGSIb3DQEMAQYwDgQIPn5OBEY9/J4CAggAgIICWP8ngUODk5tqw/ze1YSVYIPW73T6atJIU2PEPvakVRhIN39BNSq9qAg6
        KrkuK5Im1XkQayHIj6SnscpLbQbF0Obyqgg06fbJSX8NvWvj4AGQrNqX4otw/dJKCwpiTUYShCnxawYKwkvPHRbqp7e6L3/tab/o
        CUTH/2c6Y1tzggiHGff7KGus1lRIy2kyHLoVu5GZxSCrDKbDA7ScGOG/pkvETXtSM5mOLO9tigF+0lx8w/FoGCXR09L4XpjzJ92c
        ckfphCe2d/Nf2dbLLah+CgzsImxrKb8cvbJOsXopKCXSKB66/vGvJOu1uhZ2nWMEIRwxx3a4psNRYIw94TX630uQYu4rPiS9o+tu
        7a7OLXvOIpzGFPQZkHsZCUSrIvQHI7YXhYxpwVzL3moRZO9zQKhQezdJlF2xB93kVrWTD/IR5dnWwNVKsSnT8HJvxqSI9EpV3xAI
        68tV9QMw2L7j1Esjhm1uuakyBFQVtSG4dXrNtOStCM4M6aUzb8H+ryz1P1H6B8dIJUp05BSdA8X+GUICnb0lk9xGdizrpNz66T8u
        VFG6qjZTOK7DHIpFSZDuWcgow7Q29PpFrnn9hcM/DpfJgMbCLTJbiEQW/3xUT2uWZfoBUB5sTw3bI2fpHzHQ7CxbxaN9uf2QeoBE
        uLnqlqLsFENf+yI9j8Bh5CqXZmX0QfCDrLYRR3LVaA+jhoFen8In0kAM4uLCoKpI9DJA25FR/ywNNqU19N7gTVtqzI9kojRvogV7
        aZIk5MOUgp6FYajh20J7qYBdjlEnahYrf4mLe/ZljX7LfzCCAQIGCSqGSIb3DQEHAaCB9ASB8TCB7jCB6wYLKoZIhvcNAQwKAQKg
        gbQwgbEwHAYKKoZIhvcNAQwBAzAOBAiktyQiTF2IBwICCAAEgZBmg1+DQAlvuknJv3DqDOeItWm/uzsjMTJLnTSzCac4XbZCVtv8
        gEESPjM4aWlqzMV4TqkeExl0HtFE2zertMeeJsV9yqNGIyiNP9NNrm3ngdMAsrEqGOpUWVGKVBCMJrPevEGALW4EBbhFXh9GMVq4
        KC+rtmFLgMmt654bNPoQDaXv38OXKHM5THyLMZoD/m8xJTAjBgkqhkiG9w0BCRUxFgQUfJSXdfRTPpb0y4NbjsYHNuao34QwMTAh
        MAkGBSsOAwIaBQAEFAhTQjryxETgW6VDtNgMk3gF1MrcBAi7FoPBABkSWAICCAA=
        """)

    /// `-nokeys`
    static let pkcs12WithoutKey = bytes(
        """
        MIIDFwIBAzCCAs0GCSqGSIb3DQEHAaCCAr4EggK6MIICtjCCArIGCSqGSIb3DQEHBqCCAqMwggKfAgEAMIICmAYJKoZIhvcNAQcB
        MFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhl1NRQUiMHCAICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEIE7
        jw4QUycs4Fctlk9rPSmAggIwe/OCpZdndWkCP4U2lERRlY8BWAgscf6XzpSid6URTMXBM2FPhE1Bxf2qQ9KsUw1uhfNqE3jcqkYq
        COkApl8K5fWUT/dmK3CL+e8NenISJxO8+GDrEjcRcnv1BInFfDiCD/Y1kqyzhlwq8YWhew/kMU6O/HaFBKD/Q2a/djFIqmEImAYz
        jlobjW99jtKsXRW8P+F6FzpDk2O5ryhom4/U7adrEFs6ie5pIiDNHrzGRf2f+h/ZZjsxJ2/nBKQsQXrhSPoXQt5OvIYi3B0+gPOg
        vk1c8guBKOsdMK1kUfVGu01VUz351IFiPPgishu/Wf125tso/wxIR3rzcKqFBg+zYGWvPVtOm32zG+57QaVRu4Dwu47Vvw6sw5/j
        ooXJW280e4O2IM5MsTmQ9U+57xk300jkf7B0O1r7quUaPwg1OiDox4978zeJ1/ASdh77BjpQSYzXGAObfh4/qzEK08dukJHZo3Q2
        lZ/v1NLkcrqNXrwpptxeB0coCa10/cUU44eOImi0eUUlqN+r7zD+bxlxalSgxGXDoxoiJ847a6aO3RRlQ15wykwctKyeVKrLh1Gk
        SAo7MGN+sBbe6/i2HfwIDTr+5TP4ANlBIBTlRhjRts4LU4zsns5R1N2Pe7e7UEwMg+vo3SO+QqRiRse+DkHwrgX7+rJHhMzKTF2g
        cLyjdWUmw1FZtWYaC5KvpKxhMhawdd1cGAGFBf8lHQBn5hLCqFpJqlykWYPPa5RlAo1jyeswQTAxMA0GCWCGSAFlAwQCAQUABCCP
        NiIbTuRBHaYreGBoYX1EwsJNKz8DsqyKWFzMnN60eQQIRa7+rQDg1bgCAggA
        """)

    private static func bytes(_ base64: String) -> [UInt8] {
        let text = base64.replacing("\n", with: "").replacing("+", with: "-").replacing("/", with: "_")
        return Base64URL.decode(text.replacing("=", with: "")) ?? []
    }
}
