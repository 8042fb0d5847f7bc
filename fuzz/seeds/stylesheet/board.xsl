<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
<xsl:import href="row.xsl"/>
<xsl:param name="width" select="400"/>
<xsl:template name="row"><xsl:param name="n"/><xsl:if test="$n &gt; 0"><tr><td><xsl:value-of select="$n * $width div 3"/></td></tr>
<xsl:call-template name="row"><xsl:with-param name="n" select="$n - 1"/></xsl:call-template></xsl:if></xsl:template>
<xsl:template match="/"><div><xsl:attribute name="style">width: <xsl:value-of select="$width"/>px;</xsl:attribute>
<xsl:for-each select="//fact[relation='cell' and argument[3]='x']"><xsl:sort select="argument[1]"/><b><xsl:value-of select="concat(argument[1], '-', position())"/></b></xsl:for-each>
<xsl:choose><xsl:when test="count(//fact) mod 2 = 1">&ROOT;</xsl:when><xsl:otherwise><xsl:copy-of select="/state"/></xsl:otherwise></xsl:choose>
<xsl:call-template name="row"><xsl:with-param name="n" select="3"/></xsl:call-template></div></xsl:template>
</xsl:stylesheet>
